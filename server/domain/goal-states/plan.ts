import { randomBytes } from 'node:crypto';
import type { Transaction } from '#db/client.ts';
import { compareVersions, jsonLeaves } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { keyedDigest, sameBytes } from '#server/platform/keys.ts';
import { withheldSecrets } from './custody.ts';
import { canonicalJson, type Effect } from './goal-state.ts';
import { hasStockAgent, otherExtensions, type PlannedOther, type PlannedStep, stepsOfAll } from './plan-steps.ts';
import { type ExtensionRow, type Head, readHead } from './publish.ts';
import type { Move, SecretMove, Weighed } from './weigh.ts';

/** One difference, by its place: `/version`, `/timeouts/enable`, `/settings/publicSettings/port`. */
export interface PlannedChange {
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What becomes of one extension. */
export interface PlannedExtension {
  name: string;
  handler: string;
  /** `none`: nothing differs; `incarnation`: no new sequence number; `sequence`: the handler has something to do. */
  effect: Effect;
  /** The version that will be in force, after automatic upgrades; null where the extension is dropped at once. */
  version: string | null;
  state: 'enabled' | 'disabled' | 'uninstall' | 'dropped';
  sequenceNumber: { before: number | null; after: number };
  changes: PlannedChange[];
  protectedSettings: SecretMove;
  /** Its protected settings are withheld from the key of the machine: it is not delivered until an admin releases them. */
  needsRelease: boolean;
}

/** What an act would do to a VM: all of it, and nothing is written. */
export interface Plan {
  vmId: string;
  /** Equal where nothing would change. */
  incarnation: { before: number; after: number };
  /** The extensions whose declaration is touched; the one that was asked for is first. */
  extensions: PlannedExtension[];
  /** What the agent runs for them, in order. */
  steps: PlannedStep[];
  /** The VM's other extensions in the order in which they run again, as with every new goal state. */
  others: PlannedOther[];
  warnings: Fault[];
  /** Everything that the act would be refused for. */
  faults: Fault[];
  /** Given with the act, it holds it to this plan; null where there is nothing that could be applied. */
  planHash: string | null;
}

/** The act that a plan is for: two acts with the same outcome are two plans. */
export type PlannedAct = 'set' | 'remove' | 'force' | 'revert';

/** Reads one moment of the VM and weighs an act in it. Throws 404 `vm_unknown`. */
export async function planIn(
  ctx: Context,
  vmId: string,
  act: PlannedAct,
  weigh: (tx: Transaction, head: Head & { decommissioning: boolean }) => Promise<Weighed>,
): Promise<Plan> {
  return ctx.db.transaction(
    async (tx) => {
      const head = await readHead(tx, vmId);
      const weighed = await weigh(tx, head);
      const steps = stepsOfAll(weighed.moves, weighed.present, await hasStockAgent(tx, vmId));
      return planOf(ctx, head, act, weighed, steps, await withheldSecrets(tx, head));
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

function planOf(
  ctx: Context,
  head: Head,
  act: PlannedAct,
  weighed: Weighed,
  steps: PlannedStep[],
  withheld: ReadonlySet<string>,
): Plan {
  const moves = weighed.moves.filter((move, index) => (act === 'set' && index === 0) || move.effect !== 'none');
  const changes = moves.some(({ effect }) => effect !== 'none');
  return {
    vmId: head.vmId,
    incarnation: { before: head.incarnation, after: head.incarnation + (changes ? 1 : 0) },
    extensions: moves.map((move) => plannedExtension(move, withheld)),
    steps,
    others: changes ? otherExtensions(weighed.present, moves) : [],
    warnings: [...releaseWarnings(moves, withheld), ...warningsOf(head, weighed.present, moves)],
    faults: weighed.faults,
    planHash: weighed.faults.length > 0 || !changes ? null : planHash(ctx, head, act, weighed, randomBytes(12)),
  };
}

function plannedExtension(move: Move, withheld: ReadonlySet<string>): PlannedExtension {
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
    needsRelease: needsRelease(move, withheld),
  };
}

const needsRelease = ({ after }: Move, withheld: ReadonlySet<string>): boolean =>
  after?.secretId != null && withheld.has(after.secretId);

function releaseWarnings(moves: readonly Move[], withheld: ReadonlySet<string>): Fault[] {
  return moves
    .filter((move) => needsRelease(move, withheld))
    .map(({ name }) => ({ path: '/settings/protectedSettings', code: 'plan_needs_release', params: { name } }));
}

type Told = Pick<
  ExtensionRow,
  'version' | 'requestedVersion' | 'state' | 'autoUpgradeMinorVersion' | 'dependsOn' | 'timeouts' | 'publicSettings'
>;

/** Every field that differs. Objects of the settings are walked, lists are taken whole. */
export function changesOf(before: Told | undefined, after: Told): PlannedChange[] {
  const was = before ? leavesOf(before) : new Map<string, unknown>();
  const is = leavesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) => {
    const [old, now] = [was.get(path), is.get(path)];
    if (was.has(path) && is.has(path) && canonicalJson(old) === canonicalJson(now)) return [];
    return [{ path, ...(was.has(path) && { before: old }), ...(is.has(path) && { after: now }) }];
  });
}

function leavesOf(told: Told): Map<string, unknown> {
  const leaves = new Map<string, unknown>([
    ['/version', told.version],
    ['/requestedVersion', told.requestedVersion],
    ['/state', told.state],
    ['/autoUpgradeMinorVersion', told.autoUpgradeMinorVersion],
    ['/dependsOn', [...told.dependsOn].sort()],
  ]);
  for (const [command, seconds] of Object.entries(told.timeouts)) leaves.set(`/timeouts/${command}`, seconds);
  for (const [at, { value }] of jsonLeaves(told.publicSettings)) leaves.set(`/settings/publicSettings${at}`, value);
  return leaves;
}

function warningsOf(head: Head, present: readonly ExtensionRow[], moves: readonly Move[]): Fault[] {
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
    if (from !== after.version && version.manifest.handlerManifest.rebootAfterInstall === true) {
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
  // Extensions of one handler warn alike.
  const told = new Set<string>();
  return warnings.filter(({ code, params = {} }) => {
    const { name: _, ...rest } = params;
    const key = canonicalJson(code === 'plan_dependency_disabled' ? [code, params] : [code, rest]);
    return !told.has(key) && told.add(key);
  });
}

/**
 * Refuses with 412 `plan_moved_on` where what would happen now is not what the plan showed; what it would be refused
 * for comes along as faults.
 */
export function requirePlan(
  ctx: Context,
  head: Head,
  act: PlannedAct,
  weighed: Weighed,
  shown: string | undefined,
): void {
  if (shown === undefined) return;
  const given = Buffer.from(shown, 'base64url');
  const now = Buffer.from(planHash(ctx, head, act, weighed, given.subarray(0, 12)), 'base64url');
  if (weighed.faults.length === 0 && sameBytes(given, now)) return;
  throw new DomainError('precondition_failed', 'plan_moved_on', { faults: weighed.faults });
}

/**
 * Nonce (12) ‖ keyed digest (32) of everything that decides what happens. The nonce makes two plans of the same act
 * differ, so that nobody can try secrets until the hash of another plan comes out.
 */
function planHash(ctx: Context, head: Head, act: PlannedAct, weighed: Weighed, nonce: Buffer): string {
  const text = canonicalJson({
    act,
    epoch: ctx.epoch,
    vmId: head.vmId,
    incarnation: head.incarnation,
    thumbprint: head.thumbprint,
    moves: weighed.moves.map(({ name, after, secret, effect, sequenceNumber, version, given }) => ({
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
