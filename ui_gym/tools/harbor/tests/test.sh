#!/bin/sh
# The score came here from the judge's container. Without it there is no reward: the device failed, or no judge ran.
cp /var/lib/ui-gym/score /logs/verifier/reward.txt
