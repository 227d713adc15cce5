import { randomBytes } from 'node:crypto';
import type { auditEntries } from '#db/schema/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { keyedDigest } from '#server/platform/keys.ts';

type Row = typeof auditEntries.$inferSelect;

/** The content of a row, without its id and its place in the chain. */
export type Content = Omit<Row, 'id' | 'seal' | 'position' | 'hash'>;

/** Returns the row's content as text, which is the same before and after the row is stored. */
function textOf(row: Content): string {
  return canonicalJson([
    row.at.toISOString(),
    row.actorKind,
    row.actorId,
    row.actorName,
    row.door,
    row.address,
    row.client,
    row.action,
    row.targetKind,
    row.targetId,
    row.vmId,
    row.requestId,
    row.details,
    row.before,
    row.after,
  ]);
}

/** Returns a seal for a row: a random nonce, and a keyed digest of the nonce and the content. */
export function sealOf(key: Buffer, row: Content, once = randomBytes(16).toString('base64url')): string {
  return `${once}.${keyedDigest(key, 'seal', once, textOf(row)).toString('base64url')}`;
}

/** Whether the seal was created for this content with this key. */
export function isSealed(key: Buffer, row: Content, seal: string): boolean {
  return sealOf(key, row, seal.split('.')[0]) === seal;
}

/**
 * Returns the row's link. It covers the row's content, seal, id and position and, through the previous hash, all
 * earlier rows.
 */
export function linkOf(
  key: Buffer,
  previous: string,
  position: number,
  row: Content & Pick<Row, 'id' | 'seal'>,
): string {
  return keyedDigest(key, 'link', previous, String(position), String(row.id), row.seal ?? '', textOf(row)).toString(
    'hex',
  );
}
