import { z } from 'zod';
import { givenText } from '#protocol/file.ts';

/**
 * Allowed length of a password in characters. There are no rules about which characters it must contain, because length
 * protects better.
 */
export const passwordLength = { minimum: 12, maximum: 128 } as const;

export const password = z.string().min(passwordLength.minimum).max(passwordLength.maximum);

/** An email address. It is stored and compared in lower case. */
export const email = z.string().max(254).trim().toLowerCase().pipe(z.email());

export const personName = givenText(100);
