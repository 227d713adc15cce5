import { z } from 'zod';
import { maxCommandSeconds } from './limits.ts';

/** Limits a command's timeout, because a timer with too long a delay overflows and fires immediately. */
const seconds = z.number().positive().max(maxCommandSeconds);

/** One extension and its goal. The schema keeps unknown fields, because a newer portal may send more. */
export const goalStateExtension = z.looseObject({
  name: z.string(),
  handler: z.string(),
  version: z.string(),
  state: z.enum(['enabled', 'disabled', 'uninstall']),
  sequenceNumber: z.int().nonnegative(),
  dependsOn: z.array(z.string()),
  timeouts: z.looseObject({
    install: seconds,
    update: seconds,
    enable: seconds,
    disable: seconds,
    uninstall: seconds,
  }),
  package: z.looseObject({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    size: z.int().nonnegative(),
    /** The package's URL, relative to the gateway's URL. */
    url: z.string(),
  }),
  settings: z.looseObject({
    publicSettings: z.record(z.string(), z.unknown()).optional(),
    /** The encrypted settings: DER of a CMS EnvelopedData, in base64. */
    protectedSettings: z.string().optional(),
    /** SHA-1 of the certificate that the settings are encrypted for, in hexadecimal. */
    protectedSettingsCertThumbprint: z.string().optional(),
  }),
});
export type GoalStateExtension = z.output<typeof goalStateExtension>;

/** The goal state of a VM, as returned by `GET /agent/v1/goal-state`. */
export const goalState = z.looseObject({
  protocol: z.literal(1),
  vmId: z.string(),
  incarnation: z.int().nonnegative(),
  /**
   * A number that increases with each new goal state, unless only the encryption changed. Absent in goal states that an
   * earlier release published.
   */
  turn: z.int().nonnegative().optional(),
  extensions: z.array(goalStateExtension),
});
export type GoalState = z.output<typeof goalState>;

/**
 * Returns the turn of a goal state. Goal states of the first release have no turn; their incarnation serves instead,
 * because it also increases with each new goal state.
 */
export const turnOf = ({ turn, incarnation }: Pick<GoalState, 'turn' | 'incarnation'>): number => turn ?? incarnation;
