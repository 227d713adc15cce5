import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { unitText } from '../install/unit.ts';

export interface InstallUnitOptions {
  dir: string;
  user: string;
  /** Where to write the unit: a path, or true for systemd's folder. If absent, the unit is printed. */
  write?: string | true;
  /** Paths of Node and the agent's file, for a unit on another machine. By default, the paths of this process. */
  program?: string[];
}

const usualPlace = '/etc/systemd/system/annex-agent.service';

/** Prints the systemd unit of this agent, or writes it and prints the next step. */
export function installUnit(options: InstallUnitOptions, print: (line: string) => void): void {
  const text = unitText({ ...options, program: options.program ?? [process.execPath, resolve(process.argv[1] ?? '')] });
  if (options.write === undefined) {
    print(text.trimEnd());
    return;
  }
  const path = options.write === true ? usualPlace : options.write;
  if (existsSync(path)) print(`Replacing ${path}.`);
  try {
    writeFileSync(path, text, { mode: 0o644 });
  } catch (error) {
    throw new AgentError(`${path} cannot be written: ${sentenceOf(error)}. Run this as root, or print the unit.`);
  }
  print(`${path} was written. Next: systemctl daemon-reload && systemctl enable --now annex-agent`);
}
