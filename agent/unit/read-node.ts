import { AmpError } from '../amp/amp-error.ts';
import { backoff } from '../portal/backoff.ts';
import { wait } from '../portal/wait.ts';
import { unitError } from './unit-error.ts';

/** A node: the settings of one unit in one relation, or those of the unit's service. */
export type NodeName = { relation: number; unit: string } | 'service';

/** A node as the portal has it. */
export interface NodeCopy {
  version: number;
  /** The JSON text of each value, by key. */
  settings: Record<string, string>;
  /** Keys that are always secret, such as protected settings. */
  secretKeys?: string[];
}

/** Reads a node from the portal. Rejects with AmpError if the portal rejects the request. */
export type ReadNode = (name: NodeName) => Promise<NodeCopy>;

interface Patience {
  seconds?: number;
  now?(): number;
  pause?(seconds: number): Promise<void>;
  random?(): number;
}

const firstTouchSeconds = 30;

/**
 * Returns a reader that tries again while the portal cannot be reached, for 30 seconds. It then rejects with
 * PortalAway: a value that could not be read is never taken for an empty one (EN-60).
 */
export function patientReader(read: ReadNode, options: Patience = {}): ReadNode {
  const { seconds = firstTouchSeconds, now = () => performance.now() / 1000 } = options;
  const { pause = (each) => wait(each, []), random = Math.random } = options;
  return async (name) => {
    const until = now() + seconds;
    const delays = backoff(0.5, 5, { now, random });
    for (;;) {
      try {
        return await read(name);
      } catch (error) {
        if (error instanceof AmpError) throw error;
        const delay = Math.min(delays.next(), until - now());
        if (delay <= 0) throw unitError('PortalAway', 'The portal cannot be reached.');
        await pause(delay);
      }
    }
  };
}
