"""dumpsys window, input, input_method, display, SurfaceFlinger: the screen and its focus."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import mark, service, word
from ui_gym_phone.state import switches
from ui_gym_phone.state.activities import Activity
from ui_gym_phone.state.phone import Phone


def component(phone: Phone, activity: Activity, *, short: bool = False) -> str:
    """``package/class`` of an activity; `short` leaves the package out of the class."""
    package = phone.packages.get(activity.package)
    if package is None:
        return f"{activity.package}/{activity.cls}"
    cls = activity.cls if short else package.component(activity.cls)
    return f"{activity.package}/{cls}"


def focused(phone: Phone) -> str:
    """The title of the window that has the focus; empty if the screen is off."""
    if not phone.awake:
        return ""
    if phone.shade:
        return "NotificationShade"
    return component(phone, phone.launcher if phone.recents else phone.activity)


def record(phone: Phone, activity: Activity, task: int) -> str:
    name = component(phone, activity, short=True)
    return f"ActivityRecord{{{mark(f'{name} {task}')} u0 {name} t{task}}}"


def seen(phone: Phone) -> str:
    """The record of the activity that is seen."""
    return record(phone, phone.activity, phone.front.id if phone.front else 1)


@service("window")
def window(phone: Phone, words: list[str]) -> str:
    if words and words[0] in ("displays", "d"):
        return _displays(phone)
    if words and words[0] in ("windows", "w"):
        return _windows(phone) + _focus(phone)
    if words and words[0] in ("policy", "p"):
        return _policy(phone)
    return _policy(phone) + "\n" + _displays(phone) + "\n" + _windows(phone)


def _focus(phone: Phone) -> str:
    title = focused(phone)
    shown = f"Window{{{mark(title)} u0 {title}}}" if title else "null"
    return f"  mCurrentFocus={shown}\n  mFocusedApp={seen(phone)}\n"


def _displays(phone: Phone) -> str:
    size = f"{phone.width}x{phone.height}"
    density = phone.properties.get("ro.sf.lcd_density", "480")
    return (
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n"
        "  Display: mDisplayId=0\n"
        f"    init={size} {density}dpi cur={size} app={size} rng={phone.width}x{phone.width}-"
        f"{phone.height}x{phone.height}\n"
        "    deferred=false mLayoutNeeded=false\n"
        f"{_focus(phone)}"
        "  DisplayRotation\n"
        "    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED\n"
        "    mRotation=ROTATION_0 mDeferredRotationPauseCount=0\n"
    )


def _policy(phone: Phone) -> str:
    on = "SCREEN_STATE_ON" if phone.awake else "SCREEN_STATE_OFF"
    return (
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n"
        "    mSystemReady=true mSystemBooted=true\n"
        f"    mAwake={word(phone.awake)} mScreenOnEarly={word(phone.awake)}"
        f" mScreenOnFully={word(phone.awake)}\n"
        f"    interactiveState=INTERACTIVE_STATE_{'AWAKE' if phone.awake else 'SLEEP'}\n"
        f"    screenState={on}\n"
        "    KeyguardServiceDelegate\n      showing=false\n      showingAndNotOccluded=false\n"
    )


def _windows(phone: Phone) -> str:
    titles = ["StatusBar", "NavigationBar0"]
    if phone.shade:
        titles.insert(0, "NotificationShade")
    if phone.activity.focus:
        titles.append("InputMethod")
    titles += [component(phone, a) for a in _activities(phone)]
    parts = ["WINDOW MANAGER WINDOWS (dumpsys window windows)\n"]
    for number, title in enumerate(titles):
        parts.append(
            f"  Window #{number} Window{{{mark(title)} u0 {title}}}:\n"
            f"    mDisplayId=0 mSession=Session{{{mark('session ' + title)}}}\n"
            "    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false\n"
        )
    return "".join(parts)


def _activities(phone: Phone) -> list[Activity]:
    """The activities from the one that is seen on down."""
    open_ = [a for task in reversed(phone.tasks) for a in reversed(task.activities)]
    return [phone.launcher, *open_] if phone.at_home else [*open_, phone.launcher]


@service("input")
def input_(phone: Phone, words: list[str]) -> str:
    return (
        "INPUT MANAGER (dumpsys input)\n\nEvent Hub State:\n  Devices:\n    0: touchscreen\n"
        "Input Reader State:\n  Device 0: touchscreen\n    Touch Input Mapper:\n"
        f"      SurfaceWidth: {phone.width}px\n      SurfaceHeight: {phone.height}px\n"
        "  SurfaceOrientation: 0\n"
        "Input Dispatcher State:\n  DispatchEnabled: true\n"
        f"  FocusedApplications:\n    displayId=0, name='{seen(phone)}'\n"
    )


@service("input_method")
def input_method(phone: Phone, words: list[str]) -> str:
    shown = bool(phone.awake and phone.activity.focus)
    method = phone.setting("secure", "default_input_method", "null")
    return (
        "Current Input Method Manager state:\n"
        f"  mCurMethodId={method} mCurSeq=1\n"
        f"  mShowRequested={word(shown)} mShowExplicitlyRequested=false mShowForced=false"
        f" mInputShown={word(shown)}\n"
        f"  mInteractive={word(phone.awake)}\n"
    )


@service("display")
def display(phone: Phone, words: list[str]) -> str:
    state = "ON" if phone.awake else "OFF"
    return (
        "DISPLAY MANAGER (dumpsys display)\n"
        f"  mGlobalDisplayState={state}\n"
        f'  mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {phone.width} x '
        f"{phone.height}, rotation 0, density {phone.properties.get('ro.sf.lcd_density', '480')},"
        f" state {state}}}\n"
        f"  mScreenBrightness={switches.brightness(phone) / switches.MAX_BRIGHTNESS:.6f}\n"
    )


@service("SurfaceFlinger")
def surface_flinger(phone: Phone, words: list[str]) -> str:
    if "--list" in words:
        return "".join(f"{component(phone, a)}#0\n" for a in _activities(phone))
    if "--display-id" in words:
        return 'Display 0 (HWC display 0): port=0 pnpId=GGL displayName="Built-in Screen"\n'
    return (
        f"Display 0\n  resolution={phone.width}x{phone.height} fps=60.00\n"
        f"  powerMode={'On' if phone.awake else 'Off'}\n"
    )
