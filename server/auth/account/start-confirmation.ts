import { generateAuthenticationOptions, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { openChallenge } from '../challenges.ts';
import { passkeyRequest } from '../factors/index.ts';
import { allowPerson, type PersonContext } from '../person.ts';

/** Creates the challenge that one of the member's passkeys must sign to confirm their identity. */
export async function startConfirmation(ctx: PersonContext): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { id, actor } = await allowPerson(ctx);
  const options = await generateAuthenticationOptions(await passkeyRequest(ctx, actor.id));
  await openChallenge(ctx, 'confirm-passkey', { challenge: options.challenge }, ctx.now, id);
  return options;
}
