import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import type { Fault } from '#server/domain/error.ts';
import type { MemberRequest, Preview } from './change.ts';

/** What the previews of one plan share, so that the same declaration and the same settings are evaluated once. */
export interface PreviewMemory {
  /** Previews by change and declaration. */
  previews: Map<string, Preview>;
  /** Faults of settings that were checked with a schema. */
  settings: Map<string, Fault[]>;
  /** Maximum number of checks. */
  maxChecks: number;
  /** Number of VMs whose settings were not checked, because there were too many different settings. */
  unchecked: number;
}

/** Returns an empty memory for the previews of one plan. */
export const newPreviewMemory = (maxChecks = 10_000): PreviewMemory => ({
  previews: new Map(),
  settings: new Map(),
  maxChecks,
  unchecked: 0,
});

/**
 * Returns what each change would do to its VM, without locks and without writing. Each different declaration is
 * evaluated once. The number of statements does not depend on the number of VMs.
 */
export async function previewMany(
  _tx: Transaction,
  _ctx: Context,
  _requests: readonly MemberRequest[],
  _memory: PreviewMemory = newPreviewMemory(),
): Promise<Map<string, Preview>> {
  return new Map();
}
