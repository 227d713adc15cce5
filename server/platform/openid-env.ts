import { resolve } from 'node:path';
import { z } from 'zod';

export type RoleName = 'viewer' | 'operator' | 'publisher' | 'admin';

export interface OpenIdConfig {
  issuer: string;
  clientId: string;
  /** The client's secret or its file; null for a public client, which is protected only by PKCE. */
  clientSecret: { value: string } | { file: string } | null;
  /** The provider's name on the sign-in page. */
  name: string;
  scopes: string;
  /** Allowed email domains in lower case; any domain if empty. */
  emailDomains: readonly string[];
  /** Role of people who join by signing in and get no role from a group; null if such people need an invitation. */
  joinAs: RoleName | null;
  /** The claim that contains groups, and the role of each group. A member gets the role of the first matching group. */
  roles: { claim: string; of: readonly { group: string; role: RoleName }[] } | null;
}

const loopback = ['localhost', '127.0.0.1', '[::1]'];

const issuer = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && loopback.includes(hostname));
  return isSafe && search === '' && hash === '';
}, 'must be the https:// address of the provider, as it names itself');

const roleNames = ['viewer', 'operator', 'publisher', 'admin'] as const;

const words = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '');

const emailDomains = z
  .string()
  .toLowerCase()
  .transform(words)
  .refine(
    (list) => list.every((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)),
    'must be domains separated by commas',
  );

const roleMap = z.string().transform((text, ctx) => {
  const pairs = text.split(',').map((part) => {
    const at = part.lastIndexOf('=');
    return { group: part.slice(0, at).trim(), role: part.slice(at + 1).trim() };
  });
  const known = pairs.flatMap(({ group, role }) => {
    const name = roleNames.find((each) => each === role);
    return group === '' || name === undefined ? [] : [{ group, role: name }];
  });
  if (known.length === pairs.length) return known;
  ctx.addIssue({ code: 'custom', message: 'must be group=role separated by commas' });
  return z.NEVER;
});

/** The provider's variables, for the environment schema (env.ts). */
export const openIdVariables = {
  ANNEX_OIDC_ISSUER: issuer.optional(),
  ANNEX_OIDC_CLIENT_ID: z.string().max(512).optional(),
  ANNEX_OIDC_CLIENT_SECRET: z.string().max(4_096).optional(),
  ANNEX_OIDC_CLIENT_SECRET_FILE: z.string().optional(),
  ANNEX_OIDC_NAME: z.string().max(60).optional(),
  ANNEX_OIDC_SCOPES: z
    .string()
    .transform(words)
    .refine((list) => list.includes('openid'), 'must hold openid')
    .default(['openid', 'email', 'profile']),
  ANNEX_OIDC_EMAIL_DOMAINS: emailDomains.default([]),
  ANNEX_OIDC_JOIN_AS: z.enum(roleNames, `must be one of ${roleNames.join(', ')}`).optional(),
  ANNEX_OIDC_ROLE_CLAIM: z.string().max(200).optional(),
  ANNEX_OIDC_ROLE_MAP: roleMap.optional(),
};

/** Pairs of a variable and the variable that it requires. */
export const openIdPairs = [
  ['ANNEX_OIDC_ISSUER', 'ANNEX_OIDC_CLIENT_ID'],
  ['ANNEX_OIDC_ROLE_CLAIM', 'ANNEX_OIDC_ROLE_MAP'],
  ['ANNEX_OIDC_ROLE_MAP', 'ANNEX_OIDC_ROLE_CLAIM'],
  ['ANNEX_OIDC_CLIENT_ID', 'ANNEX_OIDC_ISSUER'],
  ['ANNEX_OIDC_CLIENT_SECRET', 'ANNEX_OIDC_ISSUER'],
  ['ANNEX_OIDC_CLIENT_SECRET_FILE', 'ANNEX_OIDC_ISSUER'],
  ['ANNEX_OIDC_NAME', 'ANNEX_OIDC_ISSUER'],
  ['ANNEX_OIDC_JOIN_AS', 'ANNEX_OIDC_ISSUER'],
  ['ANNEX_OIDC_ROLE_CLAIM', 'ANNEX_OIDC_ISSUER'],
] as const;

/** Returns the provider's settings; null if no issuer is set. */
export function openIdOf(value: z.output<z.ZodObject<typeof openIdVariables>>): OpenIdConfig | null {
  const { ANNEX_OIDC_ISSUER, ANNEX_OIDC_CLIENT_ID, ANNEX_OIDC_CLIENT_SECRET, ANNEX_OIDC_CLIENT_SECRET_FILE } = value;
  if (ANNEX_OIDC_ISSUER === undefined || ANNEX_OIDC_CLIENT_ID === undefined) return null;
  const { ANNEX_OIDC_ROLE_CLAIM: claim, ANNEX_OIDC_ROLE_MAP: map } = value;
  const file = ANNEX_OIDC_CLIENT_SECRET_FILE === undefined ? null : { file: resolve(ANNEX_OIDC_CLIENT_SECRET_FILE) };
  return {
    issuer: ANNEX_OIDC_ISSUER,
    clientId: ANNEX_OIDC_CLIENT_ID,
    clientSecret: ANNEX_OIDC_CLIENT_SECRET === undefined ? file : { value: ANNEX_OIDC_CLIENT_SECRET },
    name: value.ANNEX_OIDC_NAME ?? new URL(ANNEX_OIDC_ISSUER).hostname,
    scopes: value.ANNEX_OIDC_SCOPES.join(' '),
    emailDomains: value.ANNEX_OIDC_EMAIL_DOMAINS,
    joinAs: value.ANNEX_OIDC_JOIN_AS ?? null,
    roles: claim !== undefined && map !== undefined ? { claim, of: map } : null,
  };
}
