import { and, eq, max } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { serviceSettings } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { checkSettings } from '#server/domain/packages/index.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import { withDefaults } from '#server/domain/service-rules/defaults.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { parseJson } from '#server/platform/json.ts';
import { serviceLimits } from '../input.ts';
import type { FormulaVersionRow } from '../service-rows.ts';
import { openServiceSecret, sealServiceSecret, secretFingerprint } from './service-secret.ts';

export type SettingsRow = typeof serviceSettings.$inferSelect;

/** What an operator gave: undefined keeps what is there, and null removes the protected settings. */
export interface GivenServiceSettings {
  settings?: Record<string, unknown> | undefined;
  protectedSettings?: Record<string, unknown> | null | undefined;
}

/** Reads a version of the settings of a service. */
export async function readSettings(
  db: Database | Transaction,
  serviceId: string,
  version: number,
): Promise<SettingsRow> {
  const [row] = await db
    .select()
    .from(serviceSettings)
    .where(and(eq(serviceSettings.serviceId, serviceId), eq(serviceSettings.version, version)));
  if (row === undefined) throw new Error(`service ${serviceId} has no settings ${version}`);
  return row;
}

/** Returns the newest version of the settings of a service; 0 for a new service. */
export async function latestSettings(db: Database | Transaction, serviceId: string): Promise<number> {
  const [row] = await db
    .select({ version: max(serviceSettings.version) })
    .from(serviceSettings)
    .where(eq(serviceSettings.serviceId, serviceId));
  return row?.version ?? 0;
}

/**
 * Returns the settings that a service has after a change: the current row if nothing differs, otherwise a new version,
 * which is not stored yet. Call it before opening a transaction, because it waits for a worker that checks the schema.
 * Throws 422 with every violation of the formula's schema by path (EN-77), also for settings that are kept while the
 * formula's version changes (EN-57), and 422 `protected_needs_custody`.
 */
export async function planSettings(
  ctx: Context,
  { serviceId, current, latest = 0 }: { serviceId: string; current: SettingsRow | null; latest?: number },
  formula: FormulaVersionRow,
  { settings, protectedSettings }: GivenServiceSettings,
): Promise<SettingsRow> {
  const given = settings ?? current?.given ?? {};
  const effective = withDefaults(formula.settingsSchema?.publicSettings, given);
  const secret = protectedSettings === undefined ? keptSecret(ctx, current) : protectedSettings;
  if (secret !== null && ctx.config.custody === 'vm') {
    throw new DomainError('unprocessable', 'protected_needs_custody');
  }
  const isNew = current === null || protectedSettings !== undefined || current.formulaVersion !== formula.version;
  const faults = documentFaults(ctx, given, secret);
  if (faults.length === 0) faults.push(...(await schemaFaults(ctx, formula, effective, isNew ? secret : undefined)));
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults });
  const fingerprint = secret === null ? null : secretFingerprint(ctx, serviceId, secret);
  const isSame =
    current !== null &&
    canonicalJson([current.given, current.effective]) === canonicalJson([given, effective]) &&
    current.secretFingerprint === fingerprint;
  if (isSame) return current;
  const version = Math.max(current?.version ?? 0, latest) + 1;
  return {
    ...{ serviceId, version, given, effective, formulaVersion: formula.version },
    ...(await sealed(ctx, { serviceId, version, secret, fingerprint, current })),
    ...{ changedAt: ctx.now, changedBy: ctx.actor.name },
  };
}

function keptSecret(ctx: Context, current: SettingsRow | null): Record<string, unknown> | null {
  if (current === null || current.secret === null) return null;
  const plain = openServiceSecret(ctx, { ...current, secret: current.secret });
  try {
    return JSON.parse(plain.toString());
  } finally {
    plain.fill(0);
  }
}

/** Encrypts protected settings. If they are the same as before, so is the actor who entered them. */
async function sealed(
  ctx: Context,
  change: {
    serviceId: string;
    version: number;
    secret: unknown;
    fingerprint: string | null;
    current: SettingsRow | null;
  },
): Promise<Pick<SettingsRow, 'secret' | 'secretFingerprint' | 'secretSetBy'>> {
  const { serviceId, version, secret, fingerprint, current } = change;
  if (secret === null) return { secret: null, secretFingerprint: null, secretSetBy: null };
  const plain = Buffer.from(JSON.stringify(secret));
  const bytes = sealServiceSecret(ctx.keys, { serviceId, version }, plain);
  plain.fill(0);
  const isKept = current !== null && current.secretFingerprint === fingerprint;
  const author = isKept ? current.secretSetBy : await findPrincipal(ctx.db, actorRef(ctx.actor), ctx.now);
  const secretSetBy = typeof author === 'string' ? author : (author?.key ?? null);
  return { secret: bytes, secretFingerprint: fingerprint, secretSetBy };
}

async function schemaFaults(
  ctx: Context,
  { settingsSchema }: FormulaVersionRow,
  publicSettings: unknown,
  secret: unknown,
): Promise<Fault[]> {
  const protectedSettings = secret === undefined ? {} : { protectedSettings: secret };
  const found = await checkSettings(ctx, settingsSchema, { publicSettings, ...protectedSettings });
  return found.map((fault) => ({ ...fault, path: fault.path.replace(/^\/publicSettings/, '/settings') }));
}

/** Returns the faults of the settings as JSON documents: their size, depth and characters. */
function documentFaults({ config: { limits } }: Context, given: unknown, secret: unknown): Fault[] {
  const limit = serviceLimits.settingsBytes;
  const halves: [string, unknown][] = [
    ['/settings', given],
    ['/protectedSettings', secret],
  ];
  return halves.flatMap(([path, value]): Fault[] => {
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) > limit) return [{ path, code: 'settings_too_large', params: { limit } }];
    const { faults } = parseJson(text, { maxDepth: limits.jsonDepth });
    return faults.map((fault) => ({ ...fault, path: path + fault.path }));
  });
}
