'use client';

import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { missingValues } from '#app/_lib/missing-values.ts';
import type { ProblemFault } from '#app/_lib/problem.ts';
import type { JsonMarks } from '#app/_ui/json-marks.ts';
import { isCorrected, type PlanSubject } from './corrected.ts';
import type { ExtensionDraft, ProtectedDraft } from './draft.ts';
import type { Planned } from './use-plan.ts';

const publicRoot = '/settings/publicSettings';
const protectedRoot = '/settings/protectedSettings';

export interface Faults {
  /** All errors, including those that are not shown yet. */
  all: readonly ProblemFault[];
  /** Whether all errors are missing values of fields that have not been visited yet. */
  onlyOpen: boolean;
  /** Returns the error at a path below the goal, such as `/version` or `/timeouts/enable`. */
  at(path: string): string | undefined;
  /** Errors of other extensions that change to the same version. */
  siblings: readonly ProblemFault[];
  /** Returns the error at a JSON pointer below the public settings. */
  publicAt(pointer: string): string | undefined;
  /**
   * Returns the error of the protected setting with this name; for an empty name, the error of the protected settings
   * as a whole.
   */
  protectedAt(name: string): string | undefined;
  /** The first error of the protected settings. */
  anyProtected: string | undefined;
  marks: JsonMarks;
  /** Shows every error from now on. */
  insist(): void;
}

/**
 * Returns the `data-at` of the field that an error belongs to. For a public setting, this is its pointer without a
 * prefix.
 */
export function placeOf(path: string): string {
  if (path === publicRoot || path.startsWith(`${publicRoot}/`)) return path.slice(publicRoot.length);
  if (path === protectedRoot) return 'protected:/';
  if (path.startsWith(`${protectedRoot}/`)) return `protected:${path.slice(protectedRoot.length)}`;
  return `declared:${path}`;
}

interface Sources {
  planned: Pick<Planned, 'faults' | 'settled' | 'subject'>;
  /** The declaration as it is now. */
  subject: PlanSubject;
  draft: ExtensionDraft;
  secrets: ProtectedDraft;
  taken: boolean;
  mustReplace: string | undefined;
  /** The `data-at` of the field that has the focus; empty if no field has the focus. */
  active: string;
}

/** Collects the errors that the portal and this page found, by field. */
export function useFaults({ planned, subject, draft, secrets, taken, mustReplace, active }: Sources): Faults {
  const { t } = useTranslation('editor');
  const { faults: found, settled, subject: before } = planned;
  const [insists, setInsists] = useState(false);
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    // A field counts as visited only when it loses focus, because nothing has been typed when it gains focus.
    if (active === '') return;
    return () => setVisited((before) => (before.has(active) ? before : new Set([...before, active])));
  }, [active]);

  return useMemo(() => {
    const own: ProblemFault[] = [];
    const add = (path: string, message: string) => own.push({ path, code: 'page', message });
    if (draft.name.trim() === '') add('/name', t('instance.empty'));
    else if (taken) add('/name', t('instance.taken', { name: draft.name }));
    if (draft.unread !== null) add(publicRoot, t(`json.${draft.unread}`));
    if (secrets.mode === 'replace' && secrets.unread) add(protectedRoot, t('protected.jsonBroken'));
    if (mustReplace !== undefined && secrets.mode === 'keep') add(protectedRoot, mustReplace);

    // While the JSON is invalid, the portal's errors refer to an older text.
    const readable = draft.unread === null ? found : found.filter(({ path }) => !path.startsWith(publicRoot));
    const reported = readable.filter(({ path }) => settled || before === null || !isCorrected(path, before, subject));
    const all = [...own, ...reported];
    const shown = all.filter((fault) => {
      if (insists || !missingValues.has(fault.code)) return true;
      return visited.has(placeOf(fault.path));
    });
    const byPath = new Map<string, string>();
    for (const fault of shown) if (!byPath.has(fault.path)) byPath.set(fault.path, fault.message);
    return {
      all,
      onlyOpen: all.length > 0 && shown.length === 0,
      at: (path) => byPath.get(path),
      siblings: shown.filter(({ path }) => path.startsWith('/siblings/')),
      publicAt: (pointer) => byPath.get(publicRoot + pointer),
      protectedAt: (name) => {
        const root = protectedRoot + (name === '' ? '' : `/${name}`);
        if (name === '') return byPath.get(root);
        const below = shown.find(({ path }) => path === root || path.startsWith(`${root}/`));
        return below?.message;
      },
      anyProtected: shown.find(({ path }) => path.startsWith(protectedRoot))?.message,
      marks: {
        faults: shown
          .filter(({ path }) => path === publicRoot || path.startsWith(`${publicRoot}/`))
          .map(({ path, message }) => ({
            pointer: path.slice(publicRoot.length),
            message,
            path: path.slice('/settings'.length),
          })),
        active: active.startsWith('/') ? active : undefined,
      },
      insist: () => setInsists(true),
    };
  }, [
    found,
    settled,
    before,
    subject,
    draft.name,
    draft.unread,
    secrets,
    taken,
    mustReplace,
    active,
    insists,
    visited,
    t,
  ]);
}
