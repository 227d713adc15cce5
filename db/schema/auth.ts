import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

/** The roles of the API contract. Operator and publisher include viewer; admin includes all. */
export const roles = ['viewer', 'operator', 'publisher', 'admin'] as const;
export type Role = (typeof roles)[number];

/**
 * How a session started: with a password (and a second factor if there is one), with a passkey, or through the OpenID
 * provider.
 */
export const signInMethods = ['password', 'passkey', 'provider'] as const;
export type SignInMethod = (typeof signInMethods)[number];

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** The members of the portal. */
export const users = pgTable('users', {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean('email_verified').notNull().default(false),
  image: text(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  role: text().$type<Role>().notNull().default('viewer'),
  namespaces: text().array().notNull().default([]),
  /** Whether the member, an operator or a publisher, has the grant `scripts` (docs/permissions.md). */
  scripts: boolean().notNull().default(false),
  /** The language that the member chose, as a canonical tag. If null, the browser's language is used. */
  language: text(),
  /** When the member last opened a page, accurate to five minutes; null before the first page. */
  lastSeenAt: timestamp('last_seen_at', { withTimezone: true }),
  /** When the member last opened a page during the previous visit; null during the first visit. */
  previousSeenAt: timestamp('previous_seen_at', { withTimezone: true }),
});

export const sessions = pgTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    token: text().notNull().unique(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
    method: text().$type<SignInMethod>().notNull().default('password'),
    /**
     * When the member last confirmed their identity: when signing in, or before a protected action such as changing
     * factors.
     */
    confirmedAt: timestamp('confirmed_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [index('sessions_user').on(t.userId)],
);

/**
 * A member's password (provider id `credential`), or a member's account at an OpenID provider (provider id: the
 * provider's issuer).
 */
export const accounts = pgTable(
  'accounts',
  {
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: timestamp('access_token_expires_at', { withTimezone: true }),
    refreshTokenExpiresAt: timestamp('refresh_token_expires_at', { withTimezone: true }),
    scope: text(),
    /** An scrypt hash; see server/auth/password-hash.ts. */
    password: text(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [index('accounts_user').on(t.userId), uniqueIndex('accounts_identity').on(t.providerId, t.accountId)],
);

/** A member's WebAuthn credential, used as a second factor or on its own. */
export const passkeys = pgTable(
  'passkeys',
  {
    /** Credential id in base64url. */
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    publicKey: bytes('public_key').notNull(),
    /** The authenticator's signature counter; 0 if the authenticator does not count. */
    counter: bigint({ mode: 'number' }).notNull(),
    transports: text().array().notNull().default([]),
    /** Whether a password manager syncs the passkey. */
    backedUp: boolean('backed_up').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    lastUsedAt: timestamp('last_used_at', { withTimezone: true }),
  },
  (t) => [index('passkeys_user').on(t.userId)],
);

/** A member's authenticator app. */
export const totpFactors = pgTable('totp_factors', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** The secret, encrypted and bound to the member. */
  secret: bytes().notNull(),
  /** The 30-second step of the last accepted code, so that each code works once. */
  lastStep: bigint('last_step', { mode: 'number' }).notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  lastUsedAt: timestamp('last_used_at', { withTimezone: true }).notNull(),
});

/** Recovery codes for members who lost their factors, stored as keyed digests. Each code works once. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    digest: bytes().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    usedAt: timestamp('used_at', { withTimezone: true }),
  },
  (t) => [index('recovery_codes_user').on(t.userId)],
);

/**
 * An open challenge for a browser or session. It expires after a few minutes, and allows one response or a few
 * attempts.
 */
export const authChallenges = pgTable(
  'auth_challenges',
  {
    /** Digest of the challenge's kind and of the browser's token or the session's id. */
    digest: text().primaryKey(),
    /** The challenge's data, encrypted and bound to the digest. */
    asked: bytes().notNull(),
    tries: integer().notNull().default(0),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (t) => [index('auth_challenges_expiry').on(t.expiresAt)],
);

/** A single row with the portal's rules for signing in. Without a row, there are no rules. */
export const signInRules = pgTable('sign_in_rules', {
  id: integer().primaryKey(),
  requireFactor: boolean('require_factor').notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
});

/** Written by the sign-in library that release 0.1.0 used. No longer read. */
export const verifications = pgTable('verifications', {
  id: text().primaryKey(),
  identifier: text().notNull(),
  value: text().notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
});

/** API tokens for scripts. Each has one role, is stored as a hash and is shown only once. */
export const apiTokens = pgTable('api_tokens', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  tokenHash: text('token_hash').notNull().unique(),
  role: text().$type<Role>().notNull(),
  namespaces: text().array().notNull().default([]),
  /** Whether the token, with the role operator or publisher, has the grant `scripts` (docs/permissions.md). */
  scripts: boolean().notNull().default(false),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  createdBy: text('created_by').notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }),
  lastUsedAt: timestamp('last_used_at', { withTimezone: true }),
  /** IP address of the last use. */
  lastUsedFrom: text('last_used_from'),
  revokedAt: timestamp('revoked_at', { withTimezone: true }),
});

/** One-time links for joining the portal. The setup link creates the first admin. */
export const invitations = pgTable('invitations', {
  id: uuid().primaryKey(),
  tokenHash: text('token_hash').notNull().unique(),
  role: text().$type<Role>().notNull(),
  namespaces: text().array().notNull().default([]),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  createdBy: text('created_by').notNull(),
  /** The person the link is for: a name or an email address. */
  recipient: text(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  usedAt: timestamp('used_at', { withTimezone: true }),
  usedBy: text('used_by'),
});
