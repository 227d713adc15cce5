'use client';

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { type FormPlan, planForm } from '#app/_ui/schema-form/bounded.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import type { ProtectedForm } from './protected-form.tsx';

export type SchemaOfVersion = { publicSettings?: unknown; protectedSettings?: unknown } | null;

/** Translated titles and descriptions by JSON pointer, such as `/publicSettings/port`. */
export type SettingWordsByPointer = Readonly<Record<string, { title?: string; description?: string }>>;

export interface UsedSchema {
  /** Undefined while loading. */
  schema: SchemaOfVersion | undefined;
  plan: FormPlan | null;
  protectedForm: ProtectedForm;
  error: unknown;
  retry(): void;
}

/**
 * Returns the schema of a version and the forms built from it. The page already contains the schema of the initial
 * version.
 */
export function useSchema(
  handler: string,
  version: string,
  first: { version: string; schema: SchemaOfVersion; words: SettingWordsByPointer },
): UsedSchema {
  const trpc = useTRPC();
  const isFirst = version === first.version;
  const query = useQuery({
    ...trpc.packages.get.queryOptions({ handler, version }),
    enabled: !isFirst && version !== '',
    // Published versions do not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const schema = isFirst ? first.schema : (query.data?.settingsSchema as SchemaOfVersion | undefined);
  const words = isFirst ? first.words : query.data?.settingWords;
  return useMemo(() => {
    const planOf = (half: 'publicSettings' | 'protectedSettings') =>
      schema?.[half] === undefined ? null : planForm(schema[half], (path) => words?.[jsonPointer([half, ...path])]);
    const protectedPlan = planOf('protectedSettings');
    return {
      schema,
      plan: planOf('publicSettings'),
      protectedForm:
        protectedPlan !== null
          ? { kind: 'fields', plan: protectedPlan }
          : schema && schema.protectedSettings === undefined
            ? { kind: 'none' }
            : { kind: 'json' },
      error: query.error,
      retry: () => void query.refetch(),
    };
  }, [schema, words, query.error, query.refetch]);
}
