import { pendingRestartsIn, readLocalState } from '../goal/local-state.ts';
import { bootIdFile, readBootId } from '../watch/moment.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

const { good, advice } = verdictsOf('restart');

/** Checks whether installs are waiting for a restart of the machine (AZ-G8). */
export function checkRestart({ layout, rebootCommand, bootIdFile: file }: ExaminedMachine): DoctorFinding[] {
  const pending = pendingRestartsIn(readLocalState(layout), readBootId(file ?? bootIdFile));
  if (pending.length === 0) return [good('No install is waiting for a restart of this machine.')];
  const names = pending.map(({ handler, version }) => `${handler} ${version}`).join(', ');
  const isAsked = rebootCommand !== undefined && pending.some((request) => request.isAsked);
  const what = isAsked
    ? `The restart command ran for ${names}, and this machine has not restarted since.`
    : `The install of ${names} is complete once this machine has restarted.`;
  const toDo = isAsked
    ? `Check what it does, then restart this machine: ${rebootCommand}`
    : 'Restart this machine when convenient, or set rebootCommand to have the agent do it.';
  return [advice({ what, toDo })];
}
