import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import type { MemberKind } from '#server/domain/rollout-rules/words.ts';

/** A change to one of many VMs. */
export type MemberChange =
  /**
   * A patch of the VM's extensions. `given` are the protected settings, and `setBy` who entered them. With `automatic`,
   * only extensions that are upgraded automatically get a higher version, and the requested version stays.
   */
  | { kind: 'patch'; change: RolloutChange; given?: unknown; setBy?: string | null; automatic?: boolean }
  /**
   * Declares what these extensions had in an earlier goal state, as long as they still have these sequence numbers.
   * Extensions that were absent are removed. With `undelivered`, only if this incarnation was not delivered yet.
   */
  | {
      kind: 'restore';
      incarnation: number;
      extensions: { name: string; sequenceNumber: number }[];
      undelivered?: number;
    }
  /** Gives these extensions the next sequence number, as long as they still have these sequence numbers. */
  | { kind: 'repeat'; extensions: { name: string; sequenceNumber: number }[] };

/** An extension that a change gave a new declaration. */
export interface TouchedExtension {
  name: string;
  before: { version: string; sequenceNumber: number } | null;
  /** Null if the extension was removed without the agent. */
  version: string | null;
  /** The sequence number after the change. */
  sequenceNumber: number;
}

/** An extension that a change would give a new declaration, with the versions before and after. */
export interface PlannedTouch {
  name: string;
  /** Null if the VM does not have the extension. */
  before: string | null;
  /** Null if the extension would be removed without the agent. */
  version: string | null;
}

/** What a change would do to a VM. `code` is the code of the first fault. */
export type Preview =
  | {
      outcome: 'change';
      kind: MemberKind;
      touched: PlannedTouch[];
      /** Bytes of the packages that the agent downloads. */
      bytes: number;
      restarts: boolean;
      /** Sum of the timeouts of the commands that the agent runs. */
      seconds: number;
      /** Why the change could not be reverted; null if it can be. */
      notRevertible: 'version_withdrawn' | 'secrets_required' | 'run' | null;
      /** Whether the agent withholds the extension's protected settings until an admin releases them. */
      needsRelease: boolean;
    }
  | { outcome: 'unchanged' }
  | { outcome: 'refused'; code: string }
  | { outcome: 'gone' };

/** What a change did to a VM. */
export type Applied =
  | {
      outcome: 'applied';
      kind: MemberKind;
      beforeIncarnation: number;
      incarnation: number;
      touched: TouchedExtension[];
    }
  | { outcome: 'unchanged' }
  /** The change would be of another kind than the planned one, so nothing was done. */
  | { outcome: 'moved'; kind: MemberKind }
  | { outcome: 'refused'; code: string }
  /** Someone else changed an extension since the given sequence number. */
  | { outcome: 'overtaken'; by: string; action: string; at: Date }
  /** The goal state was delivered meanwhile, so it is not taken back. */
  | { outcome: 'delivered' }
  /** Another transaction is changing the VM at this moment. */
  | { outcome: 'busy' }
  | { outcome: 'gone' };

/** A change to one VM, with the kind that its plan stated; null accepts every kind. */
export interface MemberRequest {
  vmId: string;
  planned: MemberKind | null;
  change: MemberChange;
}
