import { sentenceOf } from '../agent-error.ts';
import { readIdentityFile } from '../identity/identity.ts';
import { checkBroker } from './check-broker.ts';
import { checkDisk } from './check-disk.ts';
import { checkFolder } from './check-folder.ts';
import { checkIdentity } from './check-identity.ts';
import { checkPortal } from './check-portal.ts';
import { checkProcess } from './check-process.ts';
import { checkPrograms } from './check-programs.ts';
import { checkRestart } from './check-restart.ts';
import type { ExaminedMachine } from './examined-machine.ts';
import { type DoctorFinding, verdictsOf } from './finding.ts';

/** Checks everything that the agent needs, and leaves no changes behind. A check that throws becomes a finding. */
export async function examine(machine: ExaminedMachine): Promise<DoctorFinding[]> {
  const { good, bad } = verdictsOf('configuration');
  const { configurationFault } = machine;
  const disk = await checkDisk(machine);
  const isFull = disk.some(({ verdict }) => verdict === 'bad');
  return [
    configurationFault === null
      ? good('The settings can be used.')
      : bad({ what: configurationFault, toDo: 'Correct the file. docs/agent.md lists every setting.' }),
    // A full disk would look like missing permissions, so the folder is not checked.
    ...(isFull ? [] : await look('folder', () => checkFolder(machine))),
    ...disk,
    ...(await look('process', () => checkProcess(machine))),
    ...(await look('restart', () => checkRestart(machine))),
    ...(isWithoutPortal(machine)
      ? [verdictsOf('identity').good('This machine is not enrolled. It takes execution plans over AMQP only.')]
      : [
          ...(await look('identity', () => checkIdentity(machine))),
          ...(await look('portal', () => checkPortal(machine))),
        ]),
    ...(await look('broker', () => checkBroker(machine))),
    ...checkPrograms(machine.path),
  ];
}

const isWithoutPortal = ({ amqp, layout }: ExaminedMachine): boolean => !!amqp && readIdentityFile(layout) === null;

async function look(
  check: DoctorFinding['check'],
  at: () => DoctorFinding[] | Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  try {
    return await at();
  } catch (error) {
    const toDo = "Run doctor as the agent's user, or fix the error shown here.";
    return [verdictsOf(check).bad({ what: `This cannot be checked: ${sentenceOf(error)}.`, toDo })];
  }
}
