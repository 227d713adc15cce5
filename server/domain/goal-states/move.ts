import type { Fault } from '#server/domain/error.ts';
import type { HandlerVersionRow } from '#server/domain/packages/index.ts';
import type { SecretRow } from './custody.ts';
import type { Declared } from './declare.ts';
import type { Effect } from './goal-state.ts';
import type { MergedSettings } from './merge-settings.ts';
import type { ExtensionRow } from './publish.ts';

/** The change to protected settings. `replaced`: new values were sent, which may equal the old values. */
export type SecretChange = 'none' | 'kept' | 'added' | 'replaced' | 'removed';

/** Placeholder id of a secret that is stored only when the change is applied. */
export const givenSecret = 'given';

/** One extension's change, from its current declaration to its next declaration. */
export interface ExtensionMove {
  name: string;
  current: ExtensionRow | undefined;
  /** Null if the extension is removed without the agent. `secretId` may be `givenSecret`. */
  after: Declared | null;
  secret: SecretChange;
  effect: Effect;
  /** The sequence number after the change. */
  sequenceNumber: number;
  /** Null for a removal, for which the version does not matter. */
  version: HandlerVersionRow | null;
  /** Protected settings as the caller sent them; with `merged`, the complete settings after the merge. */
  given: unknown;
  /** The result of changing individual protected settings; null if they are kept, replaced or removed as a whole. */
  merged: MergedSettings | null;
  /** The protected settings of `current`. */
  stored: SecretRow | null;
  /** Earlier protected settings that a revert declares again. */
  restored: SecretRow | null;
}

/** The effect of a change, and every reason to reject it. */
export interface Evaluation {
  present: ExtensionRow[];
  /** For a declaration or a removal, the requested extension is first. */
  moves: ExtensionMove[];
  faults: Fault[];
  /** Whether the VM's agent is the stock agent. */
  isStock: boolean;
}
