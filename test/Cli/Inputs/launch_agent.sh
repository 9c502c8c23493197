#!/bin/sh
# In the place of ssh: a host is a name, and its launcher runs here, without what this environment says of Sprig.
# Arguments: host, then the command. What there is on the command line and the host go to $AGENT_LOG.
host=$1
shift
echo "$host: $(echo "$@" | sed 's@.*/@@')" >>"$AGENT_LOG"
[ "$host" = nowhere ] && { printf "agent: no host '$host'\r\n" >&2; exit 255; }
exec env -u SPRIG_LAUNCH_SECRET -u SPRIG_GIVEN -u GIVEN "$@"
