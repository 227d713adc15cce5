'use client';

import Link from 'next/link';
import type { ReactElement, ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { FoldedActs, ListedAct, OnFilter } from './act.ts';
import { ChangedParts } from './changed-parts.tsx';
import { foldedSentence, type Say, sentenceOf } from './sentence-of.ts';

export interface ActSentenceProps {
  act: ListedAct;
  /** The counts of the actions if the sentence is about several similar actions; `act` is the newest of them. */
  fold?: FoldedActs['fold'];
  onFilter?: OnFilter;
}

/** An action as a sentence in the reader's language, with links to objects that still exist. */
export function ActSentence({ act, fold = null, onFilter }: ActSentenceProps) {
  const { t, i18n } = useTranslation(['activity', 'common']);
  const reader = useReader();
  const format = useFormat();
  const { facts, target, vm, actor } = act;
  const values = {
    ...Object.fromEntries(
      Object.entries({ version: '', name: '', from: '', to: '', ringName: '', secrets: 0, tenantKeys: 0, ...facts }),
    ),
    who: actor.name,
    target: target.name,
    vm: vm?.name ?? '',
    address: facts.address ?? target.name,
    role: facts.role === undefined ? '' : roleWord(String(facts.role), t as unknown as Say),
    lang: facts.lang === undefined ? '' : languageName(i18n.language, String(facts.lang)),
    count: Number(facts.count ?? 0),
  };
  const text =
    fold === null
      ? sentenceOf(act, values, t as unknown as Say)
      : foldedSentence(act, fold, { ...values, shown: format.number(fold.vms) }, t as unknown as Say);
  return (
    <Trans
      text={text}
      tags={{
        who: onFilter ? (
          <button
            type="button"
            translate="no"
            title={t('filter.byWho', { name: actor.name })}
            onClick={() => onFilter({ actor: `${actor.kind}:${actor.id}` })}
            className={`${thing} hover:underline`}
          />
        ) : (
          <span translate="no" className={thing} />
        ),
        target: linked(placeOf(act, reader.can('admin'))),
        name: <span translate="no" />,
        vm: linked(vm?.isThere === true ? `/vms/${vm.id}` : null),
        ...(act.changes !== null && { changes: <ChangedParts changes={act.changes} /> }),
      }}
    />
  );
}

const thing = 'rounded-xs font-medium text-ink';

function linked(href: string | null): ReactElement<{ children?: ReactNode }> {
  if (href === null) return <span translate="no" className={thing} />;
  // `Trans` fills in the content of the link.
  return (
    <Link
      href={href}
      translate="no"
      prefetch={false}
      className={`${thing} underline decoration-line underline-offset-3 hover:decoration-current`}
    />
  );
}

/** Returns the URL of the target's page; null if there is none or this reader may not open it. */
function placeOf({ target, vm, facts }: ListedAct, isAdmin: boolean): string | null {
  if (!target.isThere) return null;
  switch (target.kind) {
    case 'vm':
      return `/vms/${target.id}`;
    case 'extension':
    case 'goal-state':
      return vm === null ? null : `/vms/${vm.id}`;
    case 'version':
      return `/handlers/${encodeURIComponent(String(facts.handler ?? target.id.slice(0, target.id.lastIndexOf('-'))))}`;
    case 'publisher':
      return `/handlers?q=${encodeURIComponent(target.id)}`;
    case 'problem':
      return `/attention?problem=${encodeURIComponent(target.id)}`;
    case 'runbook':
      return `/runbooks/${encodeURIComponent(target.id)}`;
    case 'model':
      return `/models/${encodeURIComponent(target.id)}`;
    case 'rollout':
      return `/rollouts/${target.id}`;
    case 'execution-rules':
      return isAdmin ? '/settings/rules' : null;
    case 'member':
      return isAdmin ? '/settings/members' : null;
    case 'token':
      return isAdmin ? '/settings/tokens' : null;
    default:
      return null;
  }
}

const roles = ['viewer', 'operator', 'publisher', 'admin'];

const roleWord = (role: string, say: Say): string => (roles.includes(role) ? say(`common:role.${role}`) : role);

function languageName(reader: string, code: string): string {
  try {
    return new Intl.DisplayNames([reader], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}
