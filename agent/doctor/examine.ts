import { sentenceOf } from '../agent-error.ts';
import { type Finding, verdictsOf } from './finding.ts';
import { lookAtDisk } from './look-at-disk.ts';
import { lookAtFolder } from './look-at-folder.ts';
import { lookAtIdentity } from './look-at-identity.ts';
import { lookAtPortal } from './look-at-portal.ts';
import { lookAtProcess } from './look-at-process.ts';
import { lookAtPrograms } from './look-at-programs.ts';
import { lookAtRestart } from './look-at-restart.ts';
import type { Patient } from './patient.ts';

/** Looks at everything that the agent needs, and changes nothing. Never throws for what it finds. */
export async function examine(patient: Patient): Promise<Finding[]> {
  const { good, bad } = verdictsOf('configuration');
  const { configurationFault } = patient;
  const disk = await lookAtDisk(patient);
  const isFull = disk.some(({ verdict }) => verdict === 'bad');
  return [
    configurationFault === null
      ? good('The settings can be used.')
      : bad({ what: configurationFault, toDo: 'Mend the file; docs/agent.md lists every setting.' }),
    // A full disk would look like missing permissions.
    ...(isFull ? [] : await look('folder', () => lookAtFolder(patient))),
    ...disk,
    ...(await look('process', () => lookAtProcess(patient))),
    ...(await look('restart', () => lookAtRestart(patient))),
    ...(await look('identity', () => lookAtIdentity(patient))),
    ...(await look('portal', () => lookAtPortal(patient))),
    ...lookAtPrograms(patient.path),
  ];
}

/** What may not even be looked at, as by another user than the agent's, is a finding too. */
async function look(check: Finding['check'], at: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await at();
  } catch (error) {
    const toDo = "Run doctor as the agent's user, or mend what is named here.";
    return [verdictsOf(check).bad({ what: `This cannot be looked at: ${sentenceOf(error)}.`, toDo })];
  }
}
