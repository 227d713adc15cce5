import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { type Finding, verdictsOf } from './finding.ts';

const { good, advice, bad } = verdictsOf('programs');
/** Where commands of handlers look without a PATH of the agent's own. */
const places = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Whether the programs that every handler may count on are there. */
export function lookAtPrograms(): Finding[] {
  if (!isProgram('/bin/sh')) {
    return [bad({ what: 'There is no /bin/sh, which runs all commands.', toDo: 'Install a POSIX shell.' })];
  }
  if (!places.some((place) => isProgram(join(place, 'openssl')))) {
    const what = 'There is no openssl; handlers that open their protected settings with it fail.';
    return [advice({ what, toDo: 'Install it: apt-get install openssl' })];
  }
  return [good('/bin/sh and openssl are there.')];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
