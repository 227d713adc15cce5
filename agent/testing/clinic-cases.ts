import type { Trial } from '../clinic/trial.ts';
import { filesOfHandler, zipOf } from './fake-handler.ts';
import { faultyPackage, type Misbehaviour } from './misbehaving.ts';

/** A package with at most one fault. `fault` is the check that finds it; '' if there is none. */
export interface ClinicCase {
  name: string;
  fault: string;
  zip(): Promise<Buffer>;
  trial?: Partial<Pick<Trial, 'patience' | 'commandSeconds'>>;
}

const impatient = { statusSeconds: 1, settleSeconds: 1, heartbeatSeconds: 0 };

/** The expected findings for the misbehaving handlers of the agent's tests. */
const known: Record<Misbehaviour, Pick<ClinicCase, 'fault' | 'trial'>> = {
  'is well': { fault: '' },
  hangs: { fault: 'times', trial: { commandSeconds: 2 } },
  'exits 17': { fault: 'exit-codes' },
  'leaves children': { fault: 'stops' },
  'writes half a status': { fault: 'status-valid', trial: { patience: impatient } },
  'writes 10 MB': { fault: 'output' },
  'writes bytes that are not text': { fault: 'output' },
  'spells its status oddly': { fault: 'status-form' },
  'tells its secret': { fault: 'secrets' },
  'deletes its folder': { fault: 'folder' },
  'has a clock of its own': { fault: 'heartbeat' },
};

/** Faults that matter to a publisher but do not affect the agent. */
const more: Record<string, HandlerSpec & Pick<ClinicCase, 'fault' | 'trial'>> = {
  'is enabled once only': { fault: 'enable-again', misdeed: '[ "$1" != enable ] || mkdir enabled' },
  'writes a status that is none': {
    fault: 'status-valid',
    status: writeStatus('fine'),
    trial: { patience: impatient },
  },
  'writes no status': { fault: 'status-in-time', status: ':', trial: { patience: impatient } },
  'never settles': { fault: 'settled', status: writeStatus('transitioning'), trial: { patience: impatient } },
  'reports an error': { fault: 'settled', status: writeStatus('error', ',"code":5') },
  'has no heartbeat': { fault: 'heartbeat', reportHeartbeat: true, trial: { patience: impatient } },
  'uses an unknown message': {
    fault: 'messages',
    status: writeStatus('success', ',"message":{"id":"unknown","params":[]}'),
  },
  'gives too few params': {
    fault: 'messages',
    status: writeStatus('success', ',"message":{"id":"known","params":[]}'),
  },
  reboots: { fault: 'reboot', misdeed: '[ "$1" != install ] || reboot' },
  'sets the clock': { fault: 'clock', misdeed: '[ "$1" != install ] || date -s 2001-01-01' },
  'leaves a file': { fault: 'clean', misdeed: '[ "$1" != install ] || touch "$HOME/left"' },
};

export const clinicCases: ClinicCase[] = [
  ...Object.entries(known).map(([name, about]) => ({
    name,
    ...about,
    zip: async () => (await faultyPackage(name as Misbehaviour)).zip,
  })),
  ...Object.entries(more).map(([name, { fault, trial, ...making }]) => ({
    name,
    fault,
    trial,
    zip: () => patient(making),
  })),
];

interface HandlerSpec {
  /** Shell script that each command runs last; `$1` is the command. */
  misdeed?: string;
  /** Shell script with which enable and disable write their status. */
  status?: string;
  reportHeartbeat?: boolean;
}

/** Builds a handler that follows the contract, except in the given parts. */
export function patient({
  misdeed = '',
  status = writeStatus('success'),
  reportHeartbeat = false,
}: HandlerSpec): Promise<Buffer> {
  const script = `case "$1" in enable|disable) ${status} ;; esac\n${misdeed}`;
  const handler = { handler: 'Acme.Test.ExaminedMachine', version: '1', script, reportHeartbeat };
  return zipOf(filesOfHandler('/dev/null', handler));
}

/**
 * Returns a shell command that writes a status. `properties` is JSON text with further properties, starting with a
 * comma.
 */
export function writeStatus(word: string, properties = ''): string {
  const status = `{"status":"${word}"${properties}}`;
  const text = `[{"version":1.0,"timestampUTC":"2026-01-01T00:00:00Z","status":${status}}]`;
  return `printf '%s' '${text}' > "status/$ANNEX_SEQUENCE_NUMBER.status"`;
}
