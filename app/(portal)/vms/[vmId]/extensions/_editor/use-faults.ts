'use client';

import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import type { JsonMarks } from '#app/_ui/json-marks.ts';
import type { ExtensionDraft, ProtectedDraft } from './draft.ts';
import type { Planned } from './use-plan.ts';

const publicRoot = '/settings/publicSettings';
const protectedRoot = '/settings/protectedSettings';

/** Missing values are reported after the field was visited, or after an attempt to apply. */
const missing = new Set(['setting_required', 'protected_setting']);

export interface Faults {
  /** All faults, including those that are not shown yet. */
  all: readonly ProblemFault[];
  /** All faults are missing values of fields that were not visited yet. */
  onlyOpen: boolean;
  /** By path below the goal: `/version`, `/timeouts/enable`. */
  at(path: string): string | undefined;
  /** Faults of other extensions that take the same version. */
  siblings: readonly ProblemFault[];
  /** By JSON pointer below the public settings. */
  publicAt(pointer: string): string | undefined;
  /** By name of a protected setting; the empty name means all of them. */
  protectedAt(name: string): string | undefined;
  /** The first fault of the protected settings. */
  anyProtected: string | undefined;
  marks: JsonMarks;
  /** Shows every fault from now on. */
  insist(): void;
}

/** The field of a fault, as the form marks it with `data-at`: public settings by their pointer alone. */
export function placeOf(path: string): string {
  if (path === publicRoot || path.startsWith(`${publicRoot}/`)) return path.slice(publicRoot.length);
  if (path === protectedRoot) return 'protected:/';
  if (path.startsWith(`${protectedRoot}/`)) return `protected:${path.slice(protectedRoot.length)}`;
  return `declared:${path}`;
}

interface Sources {
  planned: Pick<Planned, 'faults'>;
  draft: ExtensionDraft;
  secrets: ProtectedDraft;
  taken: boolean;
  mustReplace: string | undefined;
  /** The setting with the focus. */
  active: string;
}

/** Collects the faults of the portal's check and of this page, each with its field. */
export function useFaults({ planned, draft, secrets, taken, mustReplace, active }: Sources): Faults {
  const { t } = useTranslation('editor');
  const [insists, setInsists] = useState(false);
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    // On leaving a field, not on entering it, when nothing is typed yet.
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

    // While the JSON is invalid, faults of the portal are about an older text.
    const reported =
      draft.unread === null ? planned.faults : planned.faults.filter(({ path }) => !path.startsWith(publicRoot));
    const all = [...own, ...reported];
    const shown = all.filter((fault) => {
      if (insists || !missing.has(fault.code)) return true;
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
  }, [planned.faults, draft.name, draft.unread, secrets, taken, mustReplace, active, insists, visited, t]);
}
