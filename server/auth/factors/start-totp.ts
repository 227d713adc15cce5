import { Secret } from 'otpauth';
import { openChallenge } from '../challenges.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { totpOf } from './totp.ts';

/**
 * Returns a new secret for an authenticator app, as text and as the URI for the QR code. It becomes a factor when one
 * of its codes is entered (`addTotp`). Requires a recent confirmation.
 */
export async function startTotp(ctx: PersonContext): Promise<{ secret: string; uri: string }> {
  const { id: sessionId, email } = await allowConfirmed(ctx);
  const secret = new Secret({ size: 20 }).base32;
  await openChallenge(ctx, 'new-totp', { secret }, ctx.now, sessionId);
  const site = `Annex ${new URL(ctx.config.url).hostname}`;
  return { secret, uri: totpOf(secret, site, email).toString() };
}
