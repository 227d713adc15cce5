import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import { hasSecrets } from '#server/domain/rollout-rules/run-input.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { seal, unseal } from '#server/platform/keys.ts';
import type { StoredRollout } from './rows.ts';

/** Authenticated data that binds a ciphertext to its rollout. */
export const boundTo = (rolloutId: string): string => `rollout/${rolloutId}`;

/** Where the secret values of a change are in a request. */
export const secretsPath = ({ kind }: Pick<RolloutChange, 'kind'>): string =>
  kind === 'run' ? '/change/secretParameters' : '/change/protectedSettings';

/**
 * Returns the columns with the secret values of a change, encrypted with the portal's key and bound to the rollout. Throws 422
 * `secrets_custody` if the portal may not keep secrets.
 */
export async function sealGiven(
  tx: Transaction,
  ctx: Context,
  { id, change }: { id: string; change: Pick<RolloutChange, 'kind'> },
  given: unknown,
): Promise<Pick<StoredRollout, 'sealed' | 'setBy'>> {
  if (ctx.config.custody === 'vm') {
    const faults = [{ path: secretsPath(change), code: 'secrets_custody' as const }];
    throw new DomainError('unprocessable', 'secrets_custody', { faults });
  }
  const plain = Buffer.from(JSON.stringify(given));
  const sealed = seal(ctx.keys.sealing, plain, boundTo(id));
  plain.fill(0);
  return { sealed, setBy: (await findPrincipal(tx, actorRef(ctx.actor), ctx.now))?.key ?? null };
}

/** Returns the protected settings or secret parameters of a rollout's change; undefined if there are none. */
export function openGiven(
  { keys }: Pick<Context, 'keys'>,
  { id, sealed }: Pick<StoredRollout, 'id' | 'sealed'>,
): unknown {
  if (sealed === null) return undefined;
  const plain = unseal(keys.sealing, sealed, boundTo(id));
  try {
    return JSON.parse(plain.toString());
  } finally {
    plain.fill(0);
  }
}

/** Whether the portal no longer keeps the protected settings or secret parameters of a rollout's change. */
export const hasLostSecrets = ({ sealed, definition }: Pick<StoredRollout, 'sealed' | 'definition'>): boolean =>
  sealed === null && hasSecrets(definition.change);

/** Throws 409 `rollout_secrets_gone` if the portal no longer keeps the protected settings of a rollout's change. */
export function requireKept(row: Pick<StoredRollout, 'sealed' | 'definition'>): void {
  if (hasLostSecrets(row)) throw new DomainError('conflict', 'rollout_secrets_gone');
}
