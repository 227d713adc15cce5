import type { Transaction } from '#db/client.ts';
import type { Services } from '#server/domain/context.ts';
import type { FactorAnswer } from './input.ts';
import { takeRecoveryCode } from './recovery-codes.ts';
import { takeTotpCode } from './totp.ts';
import { refusedFactor, takePasskeySignature } from './webauthn.ts';

/**
 * Checks one factor of a member. Each code works only once. `challenge` is the challenge that a passkey must have
 * signed; null if there is none. Returns the kind of factor. Throws `factor_refused`.
 */
export async function takeFactor(
  tx: Transaction,
  services: Pick<Services, 'config' | 'keys'>,
  { userId, answer, challenge, now }: { userId: string; answer: FactorAnswer; challenge: string | null; now: Date },
): Promise<'totp' | 'recovery-code' | 'passkey'> {
  if ('code' in answer) {
    await takeTotpCode(tx, services, { userId, code: answer.code, now });
    return 'totp';
  }
  if ('recoveryCode' in answer) {
    await takeRecoveryCode(tx, services, { userId, code: answer.recoveryCode, now });
    return 'recovery-code';
  }
  if (challenge === null) throw refusedFactor();
  await takePasskeySignature(tx, services, { answer: answer.passkey, challenge, userId, now });
  return 'passkey';
}
