// Asks a device by Appium's own adb helper, and prints what each call gave, as JSON by its name.
//
//     node appium.mjs FOLDER ADB PORT SERIAL
//
// FOLDER is where `appium-adb` is installed.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [folder, path, port, serial] = process.argv.slice(2);
const home = `${folder}/node_modules/appium-adb`;
const { exports } = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'));
const { ADB } = await import(pathToFileURL(`${home}/${exports['.'].import}`));
const adb = new ADB({
  adbPort: Number(port),
  executable: { path, defaultArgs: ['-P', port, '-s', serial] },
  suppressKillServer: true,
});
adb.curDeviceId = serial;

const app = 'com.android.settings';
const calls = {
  'getApiLevel()': () => adb.getApiLevel(),
  'getModel()': () => adb.getModel(),
  'getManufacturer()': () => adb.getManufacturer(),
  'getScreenSize()': () => adb.getScreenSize(),
  'getScreenDensity()': () => adb.getScreenDensity(),
  'getDeviceProperty()': () => adb.getDeviceProperty('persist.sys.locale'),
  'getTimeZone()': () => adb.getTimeZone(),
  'shell()': async () => (await adb.shell(['date', '+%Y'])).trim(),
  'isAppInstalled()': () => adb.isAppInstalled(app),
  'resolveLaunchableActivity()': () => adb.resolveLaunchableActivity(app, { preferCmd: true }),
  'startApp()': () => adb.startApp({
    pkg: app, activity: '.Settings', waitPkg: app, waitActivity: '.Settings', stopApp: true,
    waitDuration: 5000,
  }).then(() => true),
  'getFocusedPackageAndActivity()': () => adb.getFocusedPackageAndActivity(),
  'processExists()': () => adb.processExists(app),
  'getPackageInfo()': async () => (await adb.getPackageInfo(app)).versionName,
  'forceStop()': () => adb.forceStop(app).then(() => true),
  'isScreenLocked()': () => adb.isScreenLocked(),
  'isSoftKeyboardPresent()': async () => (await adb.isSoftKeyboardPresent()).isKeyboardShown,
  'availableIMEs()': () => adb.availableIMEs(),
  'setWifiState(false); isWifiOn()': async () => {
    await adb.setWifiState(false);
    return adb.isWifiOn();
  },
  'setAirplaneMode(); isAirplaneModeOn()': async () => {
    await adb.setAirplaneMode(true);
    return adb.isAirplaneModeOn();
  },
  'grantPermission()': async () => {
    await adb.grantPermission('com.android.contacts', 'android.permission.READ_SMS');
    return (await adb.getGrantedPermissions('com.android.contacts')).includes(
      'android.permission.READ_SMS');
  },
  'fileExists(); ls()': async () =>
    [await adb.fileExists('/sdcard/Download'), (await adb.ls('/sdcard')).includes('Download')],
  'reversePort(); getReverseList()': async () => {
    await adb.reversePort(4723, 4723);
    return (await adb.getReverseList()).length;
  },
  'isRoot()': () => adb.isRoot(),
};

const told = {};
for (const [name, call] of Object.entries(calls)) {
  try {
    told[name] = (await call()) ?? null;
  } catch (error) {
    told[name] = `! ${error.message}`.slice(0, 300);
  }
}
console.log(JSON.stringify(told));
process.exit(0);
