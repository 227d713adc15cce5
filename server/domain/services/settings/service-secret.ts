import type { Context } from '#server/domain/context.ts';
import { unseal } from '#server/platform/keys.ts';

export function openServiceSecret(
  { keys }: Pick<Context, 'keys'>,
  { serviceId, version, secret }: { serviceId: string; version: number; secret: Buffer },
): Buffer {
  return unseal(keys.sealing, secret, `${serviceId}/${version}`);
}
