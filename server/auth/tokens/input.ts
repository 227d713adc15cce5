import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { namespaces, role, scripts } from '../members/input.ts';

/** If `expiresAt` is null or absent, the token is valid until it is revoked. */
export const createTokenInput = z.strictObject({
  name: givenText(100),
  role,
  namespaces: namespaces.default([]),
  scripts: scripts.default(false),
  expiresAt: z.union([z.date(), z.iso.datetime({ offset: true }).pipe(z.coerce.date())]).nullish(),
});
export type CreateTokenInput = z.input<typeof createTokenInput>;

export const revokeTokenInput = z.strictObject({ id: z.uuid() });
export type RevokeTokenInput = z.input<typeof revokeTokenInput>;
