import { resolve } from 'node:path';
import { previousOf } from '../update/trial.ts';

export interface UnitOptions {
  /** The agent's folder. */
  dir: string;
  /** The user that runs the agent and the handlers. */
  user: string;
  /** The command line of the agent: Node and the script. */
  program: string[];
}

/** Returns the systemd unit of an agent. */
export function unitText({ dir, user, program }: UnitOptions): string {
  const line = [...program, 'run', '--dir', resolve(dir)].map(quoted).join(' ');
  const [shell, ...words] = settleCommand({ dir, program });
  // In systemd, a quote must not directly follow the prefix `-` of ExecStartPre.
  const before = [shell, ...words.map(quoted)].join(' ');
  return `[Unit]
Description=Annex guest agent
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
# After an update, the previous agent ends the trial of a new one that does not poll.
ExecStartPre=-${before}
ExecStart=${line}
User=${user}
EnvironmentFile=-/etc/default/annex-agent
UMask=0077
Restart=always
RestartSec=5
# Processes that handlers left running survive the end of the agent.
KillMode=process
TimeoutStopSec=30

[Install]
WantedBy=multi-user.target
`;
}

/** Returns the command to run before each start of the agent. The command does nothing unless an update is on trial. */
export function settleCommand({ dir, program }: Pick<UnitOptions, 'dir' | 'program'>): string[] {
  const [node = '', agent = node] = program;
  const script = '[ ! -e "$2" ] || exec "$@"';
  return ['/bin/sh', '-c', script, 'sh', node, previousOf(agent), 'settle-update', '--dir', resolve(dir)];
}

/** Quotes a word of a command line in a unit, and escapes `%` and `$`, which systemd would expand. */
function quoted(word: string): string {
  const plain = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%');
  return `"${plain.replaceAll('$', () => '$$')}"`;
}
