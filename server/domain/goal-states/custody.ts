import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Database, Transaction } from '#db/client.ts';
import { extensions, goalStateHeads, type SettingEntry, secrets } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import { encryptForCertificate } from '#server/platform/cms.ts';
import { keyedDigest, seal, unseal } from '#server/platform/keys.ts';
import { canonicalJson } from './goal-state.ts';
import { type KeyOrigin, mayRelease } from './may-release.ts';
import type { Head } from './publish.ts';
import { entriesOf } from './setting-entries.ts';

export type SecretRow = typeof secrets.$inferSelect;

/**
 * Whether a secret can be delivered. `needsSecrets`: no copy is left, so the secret must be entered again.
 * `needsRelease`: the portal stores the secret but withholds it from the VM's certificate.
 */
export type SecretState = 'ready' | 'needsSecrets' | 'needsRelease';

export function secretStateOf(
  { sealed, cms }: Pick<SecretRow, 'sealed' | 'cms'>,
  { certificate }: Pick<Head, 'certificate'>,
): SecretState {
  if (cms !== null) return 'ready';
  if (sealed === null) return 'needsSecrets';
  return certificate === null ? 'ready' : 'needsRelease';
}

/** `SecretState` as SQL, for rows that join `secrets` and `goal_state_heads`. */
export const needsSecretsSql = sql<boolean>`
  ${secrets.id} is not null and ${secrets.cms} is null and ${secrets.sealed} is null`;
export const needsReleaseSql = sql<boolean>`
  ${secrets.sealed} is not null and ${secrets.cms} is null and ${goalStateHeads.certificate} is not null`;

/** Returns a fingerprint that shows whether protected settings changed. It is salted per VM and extension. */
export function fingerprintOf(ctx: Pick<Context, 'keys'>, vmId: string, name: string, value: unknown): string {
  return keyedDigest(ctx.keys.fingerprint, vmId, name, canonicalJson(value)).toString('base64url');
}

/** Authenticated data that binds a ciphertext to its row, so that it cannot be decrypted for another VM or row. */
export const boundTo = (vmId: string, id: string): string => `${vmId}/${id}`;

/** Decrypts the portal's copy; undefined if the portal has none. */
export function openSecret(
  ctx: Pick<Context, 'keys'>,
  { vmId, id, sealed }: Pick<SecretRow, 'vmId' | 'id' | 'sealed'>,
): unknown {
  if (sealed === null) return undefined;
  const plain = unseal(ctx.keys.sealing, sealed, boundTo(vmId, id));
  try {
    return JSON.parse(plain.toString());
  } finally {
    plain.fill(0);
  }
}

/**
 * Stores protected settings in the forms that custody allows (docs/operations.md, `ANNEX_CUSTODY`) and returns the
 * row's id. With `ANNEX_CUSTODY=vm`, the sealed form is stored only if the VM has no certificate yet. `carried` says
 * who entered the settings that were carried over from an earlier secret.
 */
export async function storeSecret(
  tx: Transaction,
  ctx: Context,
  head: Head,
  name: string,
  value: unknown,
  schemaDigest: string | null,
  carried: ReadonlyMap<string, SettingEntry> = new Map(),
): Promise<string> {
  const [id] = await storeSecrets(tx, ctx, actorRef(ctx.actor), [{ head, name, value, schemaDigest, carried }]);
  if (id === undefined) throw new Error('the secret was not stored');
  return id;
}

/** Protected settings of one extension, to be stored. */
export interface NewSecret {
  head: Head;
  name: string;
  value: unknown;
  schemaDigest: string | null;
  carried?: ReadonlyMap<string, SettingEntry>;
}

/**
 * Stores protected settings of several extensions, as `storeSecret` does, with one insert. `setBy` is the actor who
 * entered them, as `kind:id`. Returns the rows' ids in the same order.
 */
export async function storeSecrets(
  tx: Transaction,
  ctx: Context,
  setBy: string | null,
  wanted: readonly NewSecret[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  const author = (await findPrincipal(tx, setBy, ctx.now))?.key ?? null;
  const entered: SettingEntry = { at: ctx.now.toISOString(), by: ctx.actor.name, setBy: author };
  const rows = wanted.map(({ head, name, value, schemaDigest, carried = new Map() }): SecretRow => {
    const { vmId, certificate, thumbprint } = head;
    const id = uuid();
    const plain = Buffer.from(JSON.stringify(value));
    const keepSealed = ctx.config.custody === 'portal' || certificate === null;
    const sealed = keepSealed ? seal(ctx.keys.sealing, plain, boundTo(vmId, id)) : null;
    const cms = certificate === null ? null : encryptForCertificate(certificate, plain);
    plain.fill(0);
    const fingerprint = fingerprintOf(ctx, vmId, name, value);
    const changed = { changedAt: ctx.now, changedBy: ctx.actor.name };
    const entries = entriesOf(ctx, { vmId, name }, value, entered, carried);
    return { vmId, id, name, sealed, cms, thumbprint, fingerprint, schemaDigest, ...changed, ...entries };
  });
  await tx.insert(secrets).values(rows);
  return rows.map(({ id }) => id);
}

/** Deletes a secret that is no longer needed. */
export async function deleteSecret(tx: Transaction, vmId: string, id: string): Promise<void> {
  await tx.delete(secrets).where(and(eq(secrets.vmId, vmId), eq(secrets.id, id)));
}

/** SQL that deletes secrets that are no longer needed. `secrets` is a query that returns the VM and the id of each. */
export const deleteSecretsSql = (secrets: string): string =>
  `delete from secrets s using (${secrets}) d (vm_id, id) where s.vm_id = d.vm_id and s.id = d.id`;

/** Returns a secret's row; null if the id is null or unknown. */
export async function findSecret(
  tx: Database | Transaction,
  vmId: string,
  id: string | null,
): Promise<SecretRow | null> {
  if (id === null) return null;
  const [row] = await tx
    .select()
    .from(secrets)
    .where(and(eq(secrets.vmId, vmId), eq(secrets.id, id)));
  return row ?? null;
}

/**
 * Encrypts a VM's secrets for a new certificate. Secrets that may not be released to it are withheld, and the activity
 * log names `issuer`. A secret without a sealed form (`ANNEX_CUSTODY=vm`) must be entered again, unless it is already
 * encrypted for this certificate. `head` is the head before the new certificate.
 */
export async function sealForCertificate(
  tx: Transaction,
  ctx: Context,
  head: Head,
  certificate: { pem: string; thumbprint: string },
  origin: KeyOrigin,
  issuer: string | null,
): Promise<void> {
  const withheld: string[] = [];
  const setters = new Map<string | null, string | null>();
  for (const row of await tx.select().from(secrets).where(eq(secrets.vmId, head.vmId))) {
    const wasReleased = row.cms !== null && row.thumbprint === head.thumbprint;
    if (!setters.has(row.setBy)) setters.set(row.setBy, (await findPrincipal(tx, row.setBy, ctx.now))?.key ?? null);
    const released = mayRelease({ setBy: setters.get(row.setBy) ?? null, wasReleased }, origin);
    // Keeps the only copy, which is already encrypted for this certificate.
    if (row.sealed === null && wasReleased && row.thumbprint === certificate.thumbprint) continue;
    if (released || row.sealed === null) await sealSecret(tx, ctx, row, certificate);
    else {
      withheld.push(row.id);
      await tx
        .update(secrets)
        .set({ cms: null, thumbprint: null })
        .where(and(eq(secrets.vmId, row.vmId), eq(secrets.id, row.id)));
    }
  }
  if (withheld.length === 0) return;
  const { vmId } = head;
  const names = await extensionsOf(tx, vmId, withheld);
  await recordAudit(tx, ctx, {
    action: 'secrets.withhold',
    target: { kind: 'vm', id: vmId },
    vmId,
    details: { thumbprint: certificate.thumbprint, extensions: names, secrets: withheld.length, issuer },
  });
}

/**
 * Encrypts withheld secrets for the VM's current certificate. Returns the number of secrets, and the extensions that
 * use them now.
 */
export async function sealWithheld(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  certificate: { pem: string; thumbprint: string },
): Promise<{ extensions: string[]; secrets: number }> {
  const rows = await tx
    .select()
    .from(secrets)
    .where(and(eq(secrets.vmId, vmId), isNull(secrets.cms), isNotNull(secrets.sealed)));
  for (const row of rows) await sealSecret(tx, ctx, row, certificate);
  const ids = rows.map(({ id }) => id);
  return { extensions: await extensionsOf(tx, vmId, ids), secrets: rows.length };
}

/** Returns the ids of the secrets that are withheld from a VM's certificate. */
export async function withheldSecrets(tx: Transaction, { vmId, certificate }: Head): Promise<ReadonlySet<string>> {
  if (certificate === null) return new Set();
  const rows = await tx
    .select({ id: secrets.id })
    .from(secrets)
    .where(and(eq(secrets.vmId, vmId), isNull(secrets.cms), isNotNull(secrets.sealed)));
  return new Set(rows.map(({ id }) => id));
}

async function sealSecret(
  tx: Transaction,
  ctx: Context,
  row: SecretRow,
  certificate: { pem: string; thumbprint: string },
): Promise<void> {
  const plain = row.sealed && unseal(ctx.keys.sealing, row.sealed, boundTo(row.vmId, row.id));
  await tx
    .update(secrets)
    .set({
      cms: plain && encryptForCertificate(certificate.pem, plain),
      thumbprint: plain && certificate.thumbprint,
      ...(ctx.config.custody === 'vm' && { sealed: null }),
    })
    .where(and(eq(secrets.vmId, row.vmId), eq(secrets.id, row.id)));
  plain?.fill(0);
}

async function extensionsOf(tx: Transaction, vmId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .select({ name: extensions.name })
    .from(extensions)
    .where(and(eq(extensions.vmId, vmId), inArray(extensions.secretId, [...ids])))
    .orderBy(extensions.name);
  return rows.map(({ name }) => name);
}

/** Deletes the sealed form of secrets that are also encrypted for a VM. Returns the count. */
export async function dropSealedCopies(tx: Transaction): Promise<number> {
  const dropped = await tx
    .update(secrets)
    .set({ sealed: null })
    .where(and(isNotNull(secrets.sealed), isNotNull(secrets.cms)));
  return dropped.rowCount ?? 0;
}
