import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { sentenceOf } from '../agent-error.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const { good, bad } = verdictsOf('folder');

/**
 * Checks that this user may write where the agent writes, that handlers may run there, and that no other users can read
 * secrets.
 */
export async function checkFolder({ layout, mayRun }: ExaminedMachine): Promise<DoctorFinding[]> {
  const { root } = layout;
  if (!existsSync(root)) {
    return [
      bad({ what: `${root} does not exist.`, toDo: 'Set --dir to the agent’s folder, or enroll this machine first.' }),
    ];
  }
  const findings = [...unwritable(layout), ...opened(layout)];
  if (findings.length === 0 && !(await handlersMayRun(existsSync(layout.handlers) ? layout.handlers : root, mayRun))) {
    findings.push(
      bad({
        what: `Programs cannot run below ${root}: its file system is mounted with noexec, or a security policy forbids it.`,
        toDo: `Use --dir on another file system, or run: mount -o remount,exec ${mountPointOf(root)}`,
      }),
    );
  }
  return findings.length > 0 ? findings : [good(`${root} is usable, and only its owner can read its secrets.`)];
}

function unwritable({
  root,
  localState,
  reports,
  handlers,
  logs,
  incoming,
}: ExaminedMachine['layout']): DoctorFinding[] {
  const folders = [root, dirname(localState), reports, handlers, logs, incoming].filter((path) => existsSync(path));
  return folders.flatMap((folder) => {
    const probe = join(folder, `.doctor-${process.pid}`);
    try {
      writeFileSync(probe, '', { mode: 0o600 });
      rmSync(probe);
      return [];
    } catch (error) {
      return bad({
        what: `${userInfo().username} cannot write to ${folder}: ${sentenceOf(error)}.`,
        toDo: `Run this as the agent's user, or change the owner of the folder: chown -R ${userInfo().username} ${root}`,
      });
    }
  });
}

/** Returns a finding for each secret file that other users can read (AZ-C3). */
function opened({ credential, certificates }: ExaminedMachine['layout']): DoctorFinding[] {
  const keys = existsSync(certificates) ? readdirSync(certificates).filter((name) => name.endsWith('.prv')) : [];
  return [credential, ...keys.map((name) => join(certificates, name))].flatMap((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o077) === 0
      ? []
      : bad({ what: `Other users on this machine can read ${path}.`, toDo: `Run: chmod 600 ${path}` });
  });
}

async function handlersMayRun(folder: string, mayRun: ExaminedMachine['mayRun']): Promise<boolean> {
  const probe = join(folder, `.doctor-${process.pid}.sh`);
  try {
    writeFileSync(probe, '#!/bin/sh\nexit 0\n');
    chmodSync(probe, 0o700);
    return await mayRun(probe);
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Returns the nearest mount point at or above a path. */
function mountPointOf(path: string): string {
  const parent = dirname(path);
  return parent === path || statSync(parent).dev !== statSync(path).dev ? path : mountPointOf(parent);
}
