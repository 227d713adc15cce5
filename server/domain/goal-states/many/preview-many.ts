import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { canonicalJson } from '../goal-state.ts';
import type { MemberChange, MemberRequest, Preview } from './change.ts';
import type { SettingsMemory } from './check-targets.ts';
import { declarationDigests } from './declaration-digests.ts';
import { evaluateMembers } from './evaluate-members.ts';
import { readLiveHeads } from './heads.ts';
import { previewOf } from './preview-of.ts';

interface KnownPreview {
  preview: Preview;
  isChecked: boolean;
}

/** What the previews of one plan share, so that equal declarations are evaluated once and equal settings checked once. */
export interface PreviewMemory {
  /** By change and declaration. */
  previews: Map<string, KnownPreview>;
  settings: SettingsMemory;
  /** Number of VMs whose settings were not checked, because there were too many different settings. */
  unchecked: number;
}

/** Returns an empty memory for the previews of one plan. */
export const newPreviewMemory = (maxChecks = 10_000): PreviewMemory => ({
  previews: new Map(),
  settings: { faults: new Map(), maxChecks },
  unchecked: 0,
});

/**
 * Returns what each change would do to its VM, without locks and without writing. If a patch is requested for several
 * VMs with equal declarations, it is evaluated once. The number of statements does not depend on the number of VMs.
 */
export async function previewMany(
  tx: Transaction,
  ctx: Context,
  requests: readonly MemberRequest[],
  memory: PreviewMemory = newPreviewMemory(),
): Promise<Map<string, Preview>> {
  if (requests.length === 0) return new Map();
  const digests = await declarationDigests(
    tx,
    requests.map(({ vmId }) => vmId),
  );
  const live = requests.filter(({ vmId }) => digests.get(vmId) != null);
  const textOf = textsOfChanges();
  const keyOf = ({ vmId, change }: MemberRequest) =>
    dependsOnHistory(change) ? vmId : `${textOf(change)} ${digests.get(vmId)}`;
  const known = new Map<string, KnownPreview>();
  const toEvaluate = new Map<string, MemberRequest>();
  for (const request of live) {
    const key = keyOf(request);
    const earlier = memory.previews.get(key);
    if (earlier) known.set(key, earlier);
    else if (!toEvaluate.has(key)) toEvaluate.set(key, request);
  }
  for (const [key, result] of await evaluated(tx, ctx, toEvaluate, memory)) {
    known.set(key, result);
    if (!dependsOnHistory(toEvaluate.get(key)?.change)) memory.previews.set(key, result);
  }
  const previews = new Map<string, Preview>(requests.map(({ vmId }) => [vmId, { outcome: 'gone' }]));
  for (const request of live) {
    const result = known.get(keyOf(request));
    if (!result) continue;
    previews.set(request.vmId, result.preview);
    if (!result.isChecked) memory.unchecked += 1;
  }
  return previews;
}

/** Whether the effect depends on the VM's sequence numbers or earlier goal states. */
const dependsOnHistory = (change: MemberChange | undefined): boolean =>
  change?.kind !== 'patch' || change.change.kind === 'revert';

/** Returns a function that returns a text for each change; equal changes have equal texts. */
function textsOfChanges(): (change: MemberChange) => string {
  const texts = new Map<unknown, string>();
  return (change) => {
    if (change.kind !== 'patch') return '';
    const { change: patch, given, automatic = false } = change;
    const text = texts.get(patch) ?? sha256Hex(canonicalJson([patch, given ?? null, automatic]));
    texts.set(patch, text);
    return text;
  };
}

async function evaluated(
  tx: Transaction,
  ctx: Context,
  requests: ReadonlyMap<string, MemberRequest>,
  memory: PreviewMemory,
): Promise<[string, KnownPreview][]> {
  if (requests.size === 0) return [];
  const byVm = new Map([...requests.values()].map((request) => [request.vmId, request]));
  const heads = await readLiveHeads(tx, [...byVm.keys()]);
  const results = await evaluateMembers(tx, ctx, heads, byVm, memory.settings);
  return [...requests].flatMap(([key, { vmId, change }]) => {
    const result = results.get(vmId);
    if (!result) return [];
    const isChecked = result.outcome !== 'change' || result.isChecked;
    return [[key, { preview: previewOf(change, result), isChecked }] as [string, KnownPreview]];
  });
}
