import type { SealedSettings } from '#server/domain/service-rules/stored.ts';
import { type Keys, keyedDigest, seal, unseal } from '#server/platform/keys.ts';

/** The node of a unit in a relation. */
export interface NodeRef {
  relationId: number;
  unitId: string;
}

type NodeKeys = Pick<Keys, 'sealing' | 'fingerprint'>;

/** Nonce and tag of a sealed value. */
const sealBytes = 28;

/** Authenticated data that binds a value to its node and key, so that it cannot be decrypted in another place. */
const boundTo = ({ relationId, unitId }: NodeRef, key: string): string => `relation/${relationId}/${unitId}/${key}`;

/** Encrypts the settings of a node for the database: the JSON text of each value, by key. */
export function sealSettings(
  keys: NodeKeys,
  node: NodeRef,
  settings: Readonly<Record<string, string>>,
): SealedSettings {
  const sealed = Object.entries(settings).map(([key, text]) => [key, sealValue(keys, node, key, text)]);
  // `Object.fromEntries` keeps a key named `__proto__`.
  return Object.fromEntries(sealed) as SealedSettings;
}

/** Decrypts one value of a node. */
export function openValue(keys: Pick<Keys, 'sealing'>, node: NodeRef, key: string, sealed: string): string {
  return unseal(keys.sealing, Buffer.from(sealed, 'base64url'), boundTo(node, key)).toString();
}

/** Decrypts the settings of a node. */
export function openSettings(
  keys: Pick<Keys, 'sealing'>,
  node: NodeRef,
  settings: SealedSettings,
): Record<string, string> {
  const opened = Object.entries(settings).map(([key, [sealed]]) => [key, openValue(keys, node, key, sealed)]);
  return Object.fromEntries(opened) as Record<string, string>;
}

/** Returns the bytes of a value without decrypting it. */
export function valueBytes(sealed: string): number {
  return Math.floor((sealed.length * 3) / 4) - sealBytes;
}

/** SQL for the bytes of a sealed value, as `valueBytes` computes them. */
export const valueBytesSql = (sealed: string): string => `(octet_length(${sealed}) * 3 / 4 - ${sealBytes})`;

/** Encrypts a value with other keys. */
export function resealValue(from: NodeKeys, to: NodeKeys, node: NodeRef, key: string, sealed: string) {
  return sealValue(to, node, key, openValue(from, node, key, sealed));
}

function sealValue(keys: NodeKeys, node: NodeRef, key: string, text: string): [sealed: string, fingerprint: string] {
  const sealed = seal(keys.sealing, Buffer.from(text), boundTo(node, key)).toString('base64url');
  return [sealed, keyedDigest(keys.fingerprint, boundTo(node, key), text).toString('base64url')];
}
