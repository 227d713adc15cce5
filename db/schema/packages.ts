import { sql } from 'drizzle-orm';
import { bigint, index, json, jsonb, pgTable, primaryKey, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core';
import type { AnyManifest } from '#protocol/formula.ts';
import type { PackageKind } from '#protocol/formula-words.ts';
import type { Platform } from '#protocol/platform.ts';
import { publishers } from './publishers.ts';

/** A handler or a formula: `<ProviderNamespace>.<Type>` (AZ-P1). Created with its first version. */
export const handlers = pgTable(
  'handlers',
  {
    /** The handler's id: `<namespace>.<type>`. */
    id: text().primaryKey(),
    namespace: text()
      .notNull()
      .references(() => publishers.namespace),
    type: text().notNull(),
    kind: text().$type<PackageKind>().notNull().default('handler'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (t) => [index('handlers_namespace').on(t.namespace), uniqueIndex('handlers_spelling').on(sql`lower(${t.id})`)],
);

/** A file in a package. */
export interface PackageFile {
  name: string;
  size: number;
  /** Unix permission bits; null if the zip contains none. */
  mode: number | null;
}

/** A finding that does not cause the package to be rejected. */
export interface StoredWarning {
  code: string;
  path: string;
  params?: Record<string, string | number>;
}

/** JSON Schemas of public and protected settings (AZ-P7). */
export interface SettingsSchema {
  publicSettings?: unknown;
  protectedSettings?: unknown;
}

export type VersionState = 'draft' | 'published' | 'withdrawn';

/** A registered version: immutable bytes, and what was read from them during the upload (AZ-P6). */
export const handlerVersions = pgTable(
  'handler_versions',
  {
    handler: text()
      .notNull()
      .references(() => handlers.id),
    /** The version as the publisher wrote it, for example `1.0.0.0`. */
    version: text().notNull(),
    /**
     * The version as four zero-padded numbers, so that text order is version order and two spellings of a version
     * collide.
     */
    versionKey: text('version_key').notNull(),
    state: text().$type<VersionState>().notNull(),
    sha256: text().notNull(),
    size: bigint({ mode: 'number' }).notNull(),
    /** Of the kind of the handler's row. */
    manifest: jsonb().$type<AnyManifest>().notNull(),
    /** The text of HandlerManifest.json or metadata.yaml in the package, for display. */
    manifestText: text('manifest_text').notNull(),
    files: jsonb().$type<PackageFile[]>().notNull(),
    warnings: jsonb().$type<StoredWarning[]>().notNull(),
    settingsSchema: json('settings_schema').$type<SettingsSchema>(),
    /** The version from which the schema was carried over; null once the schema is set. */
    settingsSchemaFrom: text('settings_schema_from'),
    /** Supported platforms; null means every platform. */
    platforms: json().$type<Platform[]>(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    createdBy: text('created_by').notNull(),
    publishedAt: timestamp('published_at', { withTimezone: true }),
    withdrawnAt: timestamp('withdrawn_at', { withTimezone: true }),
    withdrawnReason: text('withdrawn_reason'),
  },
  (t) => [
    primaryKey({ columns: [t.handler, t.version] }),
    uniqueIndex('handler_versions_key').on(t.handler, t.versionKey),
    index('handler_versions_sha256').on(t.sha256),
  ],
);
