import { z } from 'zod';
import { givenText } from '#protocol/file.ts';

/** Bounds of a password, in characters. Length is what protects; no rules about kinds of characters. */
export const passwordLength = { minimum: 12, maximum: 128 } as const;

export const password = z.string().min(passwordLength.minimum).max(passwordLength.maximum);

/** Stored and compared in lower case. */
export const email = z.string().max(254).trim().toLowerCase().pipe(z.email());

export const personName = givenText(100);
