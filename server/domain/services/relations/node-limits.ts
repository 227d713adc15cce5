import type { UnitRunEnd } from '#protocol/unit-runs.ts';
import { DomainError } from '#server/domain/error.ts';
import type { StoredReason } from '#server/domain/service-rules/stored.ts';

/** The limits of a node, as the agent has them. */
export const nodeLimits = { bytes: 64_000, keys: 1_000, keyBytes: 255 };

/** The part of a hook's reason that is kept. Every list of runs contains it. */
const reasonLimits = { params: 32, characters: 1024 };

/** Shortens a reason, which a hook can make as long as the request. */
export function storedReason({ id, params }: StoredReason): StoredReason {
  const short = (text: string) => text.slice(0, reasonLimits.characters).toWellFormed();
  return { id: short(id), params: params.slice(0, reasonLimits.params).map(short) };
}

/** Rejects keys that no node can have. Throws 422 `node_key_form`. */
export function requireKeys(changes: UnitRunEnd['changes']): void {
  const keys = (changes ?? []).flatMap(({ set, remove }) => [...Object.keys(set), ...remove]);
  const isKey = (key: string) =>
    key !== '' && !key.includes('\0') && key.isWellFormed() && Buffer.byteLength(key) <= nodeLimits.keyBytes;
  if (!keys.every(isKey)) {
    throw new DomainError('unprocessable', 'node_key_form', { params: { limit: nodeLimits.keyBytes } });
  }
}

/** Rejects nodes that became too large. Throws 422 `node_too_large`. */
export function requireSizes(nodes: readonly { keys: number; bytes: number }[]): void {
  const { keys, bytes } = nodeLimits;
  if (nodes.every((node) => node.keys <= keys && node.bytes <= bytes)) return;
  throw new DomainError('unprocessable', 'node_too_large', { params: { bytes, keys } });
}
