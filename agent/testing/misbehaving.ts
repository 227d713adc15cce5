import { zipOf } from './fake-handler.ts';

/** Handlers that each do one thing wrong, and `is well`, which does nothing wrong. */
export const misbehaviours = {
  'is well': { type: 'Well', script: '' },
  hangs: { type: 'Hangs', script: '[ "$1" != enable ] || sleep 300' },
  'exits 17': { type: 'Exits17', script: '[ "$1" != enable ] || { echo "no such volume" >&2; exit 17; }' },
  'leaves children': {
    type: 'LeavesChildren',
    script: `[ "$1" != enable ] || for child in 1 2; do
  # Both keep its output open.
  sleep 300 & echo $! >> "$(folder logFolder)/children"
done`,
  },
  'writes half a status': {
    type: 'HalfStatus',
    script:
      '[ "$1" != enable ] || { printf \'[{ "version": 1.0, "status": \' > "$(folder statusFolder)/$n.status"; exit; }',
  },
  'writes 10 MB': {
    type: 'Floods',
    script: '[ "$1" != enable ] || head -c 10000000 /dev/zero | tr "\\0" "x"',
  },
  'writes bytes that are not text': {
    type: 'Binary',
    script: '[ "$1" != enable ] || { printf "\\377\\376\\000\\001\\033[31m"; head -c 4096 /dev/urandom; }',
  },
  'spells its status oddly': {
    type: 'OddCasings',
    script: `[ "$1" != enable ] || {
  printf '[{"VERSION":1.0,"TimestampUtc":"2013/11/13, 17:46:30.447","Status":{"NAME":"Odd","Operation":"Enabling","STATUS":"SuCCess","Code":0,"FORMATTEDMESSAGE":{"Lang":"en-US","MESSAGE":"well"},"SubStatus":[{"Name":"part","STATUS":"WARNING"}]}}]' > "$(folder statusFolder)/$n.status"
  exit
}`,
  },
  'tells its secret': {
    type: 'TellsSecret',
    script: `[ "$1" != enable ] || {
  value() { sed -n 's/.*"'"$1"'": *"\\([^"]*\\)".*/\\1/p' "$(folder configFolder)/$n.settings" | head -n 1; }
  value protectedSettings | base64 -d |
    openssl cms -decrypt -inform DER -inkey "$ANNEX_CERTIFICATE_FOLDER/$(value protectedSettingsCertThumbprint).prv"
}`,
  },
  'deletes its folder': {
    type: 'DeletesFolder',
    script: '[ "$1" != enable ] || { rm -rf "$ANNEX_HANDLER_ROOT"; exit; }',
  },
  'has a clock of its own': {
    type: 'OwnClock',
    reportHeartbeat: true,
    script: `[ "$1" != enable ] || {
  file=$(folder heartbeatFile)
  echo '[{"version":1.0,"heartbeat":{"status":"ready","code":0,"Message":"well"}}]' > "$file.next"
  touch -d '+2 hours' "$file.next"
  mv "$file.next" "$file"
}`,
  },
} satisfies Record<string, { type: string; script: string; reportHeartbeat?: boolean }>;

export type Misbehaviour = keyof typeof misbehaviours;

export interface HandlerPackage {
  handler: string;
  version: string;
  zip: Buffer;
}

/** Builds a handler that misbehaves: `Acme.Faulty.<type>`. */
export async function faultyPackage(what: Misbehaviour, version = '1.0.0.0'): Promise<HandlerPackage> {
  const { type, ...rest } = misbehaviours[what];
  return await loggingHandler({ handler: `Acme.Faulty.${type}`, version, ...rest });
}

/**
 * Builds a handler that follows the contract except for its script. It logs its calls in `calls.log` in its log folder,
 * which is kept after an uninstall. Each call has two lines, `<nanoseconds> <command> <sequence number> begin|end`.
 */
export async function loggingHandler({
  handler,
  version,
  script,
  reportHeartbeat = false,
}: {
  handler: string;
  version: string;
  /** Shell script that each command runs before it writes a status; `$1` is the command, `$n` the sequence number. */
  script: string;
  reportHeartbeat?: boolean;
}): Promise<HandlerPackage> {
  const type = handler.slice(handler.lastIndexOf('.') + 1);
  const commands = ['install', 'uninstall', 'update', 'enable', 'disable'];
  const handlerManifest = {
    ...Object.fromEntries(commands.map((command) => [`${command}Command`, `./handler.sh ${command}`])),
    rebootAfterInstall: false,
    reportHeartbeat,
  };
  const program = `#!/bin/sh
n=$ANNEX_SEQUENCE_NUMBER
folder() { sed -n 's/.*"'"$1"'": *"\\([^"]*\\)".*/\\1/p' "$ANNEX_HANDLER_ROOT/HandlerEnvironment.json"; }
calls=$(folder logFolder)/calls.log
call="$1 $n"
log() { echo "$(date +%s%N) $call $1" >> "$calls"; }
log begin
trap 'log end' EXIT
status() {
  file=$(folder statusFolder)/$n.status
  time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  echo '[{"version":1.0,"timestampUTC":"'$time'","status":{"name":"${type}","operation":"'$1'","status":"success","code":0,"formattedMessage":{"lang":"en-US","message":"It works."}}}]' > "$file.next"
  mv "$file.next" "$file"
}
${script}
case $1 in enable | disable) status "$1" ;; esac
`;
  const files = {
    'HandlerManifest.json': JSON.stringify([{ version: 1.0, handlerManifest }], null, 2),
    'handler.sh': program,
  };
  return { handler, version, zip: await zipOf(files) };
}
