import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { compareVersions, jsonLeaves } from '#protocol/index.ts';
import { count, fault, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { keyedDigest, sameBytes } from '#server/platform/keys.ts';
import { withheldSecrets } from './custody.ts';
import { canonicalJson } from './goal-state.ts';
import type { Evaluation, ExtensionMove } from './move.ts';
import { otherExtensions, type PlannedStep, plannedOther, plannedStep, stepsOfAll } from './plan-steps.ts';
import { plannedSetting, plannedSettings, restoredSettings } from './planned-settings.ts';
import { type ExtensionRow, type Head, readHead } from './publish.ts';

/** One difference. Its path is, for example, `/version`, `/timeouts/enable` or `/settings/publicSettings/port`. */
export const plannedChange = z.object({
  path: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
export type PlannedChange = z.infer<typeof plannedChange>;

/** The planned change of one extension. */
export const plannedExtension = z.object({
  name: z.string(),
  handler: handlerId,
  /** `none`: nothing differs; `incarnation`: no new sequence number; `sequence`: the handler runs. */
  effect: z.enum(['none', 'incarnation', 'sequence']),
  /** The version that the goal state will contain; null if the extension is dropped immediately. */
  version: handlerVersion.nullable(),
  state: z.enum(['enabled', 'disabled', 'uninstall', 'dropped']),
  sequenceNumber: z.object({ before: count.nullable(), after: count }),
  changes: z.array(plannedChange),
  protectedSettings: z.enum(['none', 'kept', 'added', 'replaced', 'removed']),
  /** The individual protected settings whose names can be shown, without their values. */
  protectedChanges: z.array(plannedSetting),
  /** When and by whom the protected settings that a revert restores were last changed; null if it restores none. */
  protectedRestored: z.object({ changedAt: time, changedBy: z.string() }).nullable(),
  /**
   * Whether the extension's protected settings are withheld from the machine's key. If so, the extension is not
   * delivered until an admin releases them.
   */
  needsRelease: z.boolean(),
});
export type PlannedExtension = z.infer<typeof plannedExtension>;

/** Everything that a change would do to a VM. */
export const plan = z.object({
  vmId,
  /** `before` equals `after` if nothing would change. */
  incarnation: z.object({ before: count, after: count }),
  /**
   * The extensions whose declaration changes; for `setExtension`, first the requested extension, even if it does not
   * change.
   */
  extensions: z.array(plannedExtension),
  /** The commands that the agent runs for these extensions, in order. */
  steps: z.array(plannedStep),
  /** The VM's other extensions in the order in which their commands run again, as with every new goal state. */
  others: z.array(plannedOther),
  warnings: z.array(fault),
  /** Every reason to reject the change. */
  faults: z.array(fault),
  /**
   * A change with this hash is rejected if it would differ from the plan. Null if the change has faults or nothing to
   * apply.
   */
  planHash: z.string().nullable(),
});
export type Plan = z.infer<typeof plan>;

/**
 * The kind of the planned change. The hash includes the kind, so two kinds of change with the same outcome have
 * different hashes.
 */
export type PlannedAct = 'set' | 'remove' | 'force' | 'revert';

/** Reads the VM in one snapshot and evaluates a change. Throws 404 `vm_unknown`. */
export async function planIn(
  ctx: Context,
  vmId: string,
  act: PlannedAct,
  evaluate: (tx: Transaction, head: Head & { decommissioning: boolean }) => Promise<Evaluation>,
): Promise<Plan> {
  return ctx.db.transaction(
    async (tx) => {
      const head = await readHead(tx, vmId);
      const evaluation = await evaluate(tx, head);
      const steps = stepsOfAll(evaluation.moves, evaluation.present, evaluation.isStock);
      return planOf(ctx, head, act, evaluation, steps, await withheldSecrets(tx, head));
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

function planOf(
  ctx: Context,
  head: Head,
  act: PlannedAct,
  evaluation: Evaluation,
  steps: PlannedStep[],
  withheld: ReadonlySet<string>,
): Plan {
  const moves = evaluation.moves.filter((move, index) => (act === 'set' && index === 0) || move.effect !== 'none');
  const changes = moves.some(({ effect }) => effect !== 'none');
  return {
    vmId: head.vmId,
    incarnation: { before: head.incarnation, after: head.incarnation + (changes ? 1 : 0) },
    extensions: moves.map((move) => plannedExtensionOf(ctx, move, withheld)),
    steps,
    others: changes ? otherExtensions(evaluation.present, moves) : [],
    warnings: [...releaseWarnings(moves, withheld), ...warningsOf(head, evaluation.present, moves)],
    faults: evaluation.faults,
    planHash: evaluation.faults.length > 0 || !changes ? null : planHash(ctx, head, act, evaluation, randomBytes(12)),
  };
}

function plannedExtensionOf(ctx: Context, move: ExtensionMove, withheld: ReadonlySet<string>): PlannedExtension {
  const { name, current, after, effect, secret, sequenceNumber } = move;
  return {
    name,
    handler: (after ?? current)?.handler ?? '',
    effect,
    version: after?.version ?? null,
    state: after?.state ?? 'dropped',
    sequenceNumber: { before: current?.sequenceNumber ?? null, after: sequenceNumber },
    changes: after ? changesOf(current, after) : [],
    protectedSettings: secret,
    protectedChanges: plannedSettings(ctx, move),
    protectedRestored: restoredSettings(move),
    needsRelease: needsRelease(move, withheld),
  };
}

const needsRelease = ({ after }: ExtensionMove, withheld: ReadonlySet<string>): boolean =>
  after?.secretId != null && withheld.has(after.secretId);

function releaseWarnings(moves: readonly ExtensionMove[], withheld: ReadonlySet<string>): Fault[] {
  return moves
    .filter((move) => needsRelease(move, withheld))
    .map(({ name }) => ({ path: '/settings/protectedSettings', code: 'plan_needs_release', params: { name } }));
}

type Comparable = Pick<
  ExtensionRow,
  'version' | 'requestedVersion' | 'state' | 'autoUpgradeMinorVersion' | 'dependsOn' | 'timeouts' | 'publicSettings'
>;

/** Returns every field that differs. Objects in settings are compared field by field, lists as a whole. */
export function changesOf(before: Comparable | undefined, after: Comparable): PlannedChange[] {
  const was = before ? leavesOf(before) : new Map<string, unknown>();
  const is = leavesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) => {
    const [old, now] = [was.get(path), is.get(path)];
    if (was.has(path) && is.has(path) && canonicalJson(old) === canonicalJson(now)) return [];
    return [{ path, ...(was.has(path) && { before: old }), ...(is.has(path) && { after: now }) }];
  });
}

function leavesOf(fields: Comparable): Map<string, unknown> {
  const leaves = new Map<string, unknown>([
    ['/version', fields.version],
    ['/requestedVersion', fields.requestedVersion],
    ['/state', fields.state],
    ['/autoUpgradeMinorVersion', fields.autoUpgradeMinorVersion],
    ['/dependsOn', [...fields.dependsOn].sort()],
  ]);
  for (const [command, seconds] of Object.entries(fields.timeouts)) leaves.set(`/timeouts/${command}`, seconds);
  for (const [at, { value }] of jsonLeaves(fields.publicSettings)) leaves.set(`/settings/publicSettings${at}`, value);
  return leaves;
}

function warningsOf(head: Head, present: readonly ExtensionRow[], moves: readonly ExtensionMove[]): Fault[] {
  const warnings: Fault[] = [];
  if (head.certificate === null) warnings.push({ path: '', code: 'plan_machine_absent' });
  for (const { name, current, after, version } of moves) {
    if (!after || after.state === 'uninstall' || !version) continue;
    const params = { name, handler: after.handler, version: version.version };
    if (version.settingsSchema === null) warnings.push({ path: '/settings', code: 'plan_settings_unchecked', params });
    if (version.state === 'withdrawn') warnings.push({ path: '/version', code: 'plan_version_withdrawn', params });
    const from = current?.everDelivered ? current.version : null;
    if (from !== null && compareVersions(after.version, from) < 0) {
      warnings.push({ path: '/version', code: 'plan_lower_version', params: { ...params, from } });
    }
    if (restartsVm({ current, after, version })) {
      warnings.push({ path: '/version', code: 'plan_restarts', params });
    }
    after.dependsOn.forEach((dependency, index) => {
      const other =
        moves.find((move) => move.name === dependency)?.after ?? present.find((row) => row.name === dependency);
      if (after.state !== 'enabled' || other?.state !== 'disabled') return;
      warnings.push({ path: `/dependsOn/${index}`, code: 'plan_dependency_disabled', params: { name, dependency } });
    });
    const waiting = present.filter((row) => row.state === 'enabled' && row.dependsOn.includes(name));
    if (after.state === 'disabled' && waiting.length > 0) {
      const names = waiting.map((row) => row.name).join(', ');
      warnings.push({ path: '/state', code: 'plan_dependants_wait', params: { name, dependants: names } });
    }
  }
  // Lists a warning only once if several extensions of one handler cause it.
  const fields = new Set<string>();
  return warnings.filter(({ code, params = {} }) => {
    const { name: _, ...rest } = params;
    const key = canonicalJson(code === 'plan_dependency_disabled' ? [code, params] : [code, rest]);
    return !fields.has(key) && fields.add(key);
  });
}

/** Whether the machine restarts, because it gets a version whose manifest requires a restart. */
export function restartsVm({ current, after, version }: Pick<ExtensionMove, 'current' | 'after' | 'version'>): boolean {
  if (!after || after.state === 'uninstall' || !version) return false;
  const from = current?.everDelivered ? current.version : null;
  return from !== after.version && version.manifest.handlerManifest.rebootAfterInstall === true;
}

/**
 * Rejects with 412 `plan_moved_on` if the change has faults, which the error lists, or if its effect now differs from
 * the plan. Without a hash (`shown`), checks nothing.
 */
export function requirePlan(
  ctx: Context,
  head: Head,
  act: PlannedAct,
  evaluation: Evaluation,
  shown: string | undefined,
): void {
  if (shown === undefined) return;
  const given = Buffer.from(shown, 'base64url');
  const now = Buffer.from(planHash(ctx, head, act, evaluation, given.subarray(0, 12)), 'base64url');
  if (evaluation.faults.length === 0 && sameBytes(given, now)) return;
  throw new DomainError('precondition_failed', 'plan_moved_on', { faults: evaluation.faults });
}

/**
 * Returns a 12-byte nonce and a 32-byte keyed digest of everything that decides the effect. Because of the nonce, two
 * plans of the same change have different hashes, so guessed secrets cannot be confirmed by comparing hashes.
 */
function planHash(ctx: Context, head: Head, act: PlannedAct, evaluation: Evaluation, nonce: Buffer): string {
  const text = canonicalJson({
    act,
    epoch: ctx.epoch,
    vmId: head.vmId,
    incarnation: head.incarnation,
    thumbprint: head.thumbprint,
    moves: evaluation.moves.map(({ name, after, secret, effect, sequenceNumber, version, given }) => ({
      name,
      after,
      secret,
      effect,
      sequenceNumber,
      version: version && {
        sha256: version.sha256,
        state: version.state,
        schema: version.settingsSchema,
        manifest: version.manifest,
      },
      given: given ?? null,
    })),
  });
  const digest = keyedDigest(ctx.keys.plan, nonce.toString('hex'), text);
  return Buffer.concat([nonce, digest]).toString('base64url');
}
