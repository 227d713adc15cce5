#!/usr/bin/env python3
"""A handler that logs each of its calls and then does what its settings say.

publicSettings: target, word, code, fail (a command), sleep (seconds, with slow: a command), raw (a whole status file),
rawHeartbeat. Of protectedSettings it logs only the SHA-256. Commands: install, enable, update, disable, uninstall.
"""
import base64
import hashlib
import json
import os
import subprocess
import sys
import time

command, version = sys.argv[1], "@VERSION@"
log = "/var/log/probe.log"
environment = json.load(open("HandlerEnvironment.json"))[0]["handlerEnvironment"]
sequence = os.environ.get("ConfigSequenceNumber")
name = os.environ.get("ConfigExtensionName")
stem = (name + "." if name else "") + str(sequence)


def settings():
    try:
        text = open(os.path.join(environment["configFolder"], stem + ".settings")).read()
        return json.loads(text)["runtimeSettings"][0]["handlerSettings"]
    except (OSError, ValueError, KeyError, IndexError):
        return {}


def opened(sealed, thumbprint):
    if not sealed:
        return None
    key = "/var/lib/waagent/" + thumbprint
    line = ["openssl", "cms", "-inform", "DER", "-decrypt", "-recip", key + ".crt", "-inkey", key + ".prv"]
    return subprocess.run(line, input=base64.b64decode(sealed), stdout=subprocess.PIPE, check=True).stdout


def write(path, text):
    with open(path + ".next", "w") as file:
        file.write(text)
    os.replace(path + ".next", path)


given = settings()
public = given.get("publicSettings") or {}
secret = opened(given.get("protectedSettings"), given.get("protectedSettingsCertThumbprint"))
call = {
    "handler": os.path.basename(os.getcwd()).split("-")[0],
    "version": version,
    "command": command,
    "sequence": None if sequence is None else int(sequence),
    "name": name,
    "target": os.environ.get("VERSION"),
    "from": os.environ.get("AZURE_GUEST_AGENT_UPDATING_FROM_VERSION"),
    "secret": None if secret is None else hashlib.sha256(secret).hexdigest(),
}
with open(log, "a") as file:
    file.write(json.dumps({key: value for key, value in call.items() if value is not None}) + "\n")
print("probe", version, command, flush=True)

if public.get("slow") == command:
    time.sleep(public.get("sleep", 0))
if public.get("fail") == command:
    print("asked to fail", file=sys.stderr)
    sys.exit(17)
if command == "enable":
    target = public.get("target", "nothing")
    text = public.get("message") or "Probe {0} is watching {1}.".format(version, target)
    status = {
        "name": "probe",
        "operation": "Enable probe",
        "status": public.get("word", "success"),
        "code": public.get("code", 0),
        "formattedMessage": {"lang": "en-US", "message": text},
        "substatus": [
            {
                "name": "target",
                "status": "success",
                "code": 0,
                "formattedMessage": {"lang": "en-US", "message": "{0} was reached.".format(target)},
            }
        ],
    }
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    document = [{"version": 1.0, "timestampUTC": now, "status": status}]
    write(os.path.join(environment["statusFolder"], stem + ".status"), public.get("raw") or json.dumps(document))
    beat = [{"version": 1.0, "heartbeat": {"status": "ready", "code": 0, "formattedMessage": {"lang": "en-US", "message": "Watching."}}}]
    write(environment["heartbeatFile"], public.get("rawHeartbeat") or json.dumps(beat))
