'use client';

import Link from 'next/link';
import { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { footId } from './foot-place.ts';
import { type Faults, placeOf } from './use-faults.ts';

export interface FootProps {
  faults: Faults;
  canApply: boolean;
  hasChanges: boolean;
  /** Somebody else was faster: what is theirs is compared first. */
  isOvertaken: boolean;
  busy: boolean;
  vm: { id: string; name: string };
  state: 'enabled' | 'disabled';
  /** The version that is moved to; absent where it stays. */
  version: string | undefined;
  isNew: boolean;
  runs: boolean;
  onApply(): void;
  onEditJson(pointer: string): void;
}

/** What blocks, what will happen, and the two ways out. */
export function Foot(props: FootProps) {
  const { faults, canApply, hasChanges, busy, vm, onApply } = props;
  const { t } = useTranslation('editor');
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => setPlace(document.getElementById(footId)), []);
  if (place === null) return null;

  const count = faults.all.length;
  const blocked = count > 0 || !canApply;
  const goToFirst = () => {
    faults.insist();
    const place = placeOf(faults.all[0]?.path ?? '');
    const field = nearest(place);
    if (field === null) return place.startsWith('/') || place === '' ? props.onEditJson(place) : undefined;
    field.closest('details')?.setAttribute('open', '');
    field.querySelector<HTMLElement>('input, textarea, select, button')?.focus();
    field.scrollIntoView({ block: 'center' });
  };
  return createPortal(
    <>
      {count > 0 ? (
        <button
          type="button"
          onClick={goToFirst}
          className={cn(
            'flex items-center gap-2 rounded-sm font-medium underline underline-offset-3',
            faults.onlyOpen ? 'text-ink-2' : 'text-failed-text',
          )}
        >
          {faults.onlyOpen ? null : <StatusIcon status="failed" />}
          {t(faults.onlyOpen ? 'foot.open' : 'foot.faults', { count })}
        </button>
      ) : null}
      <span className="min-w-0 text-ink-2 max-sm:hidden">
        {props.isOvertaken
          ? t('foot.compare')
          : hasChanges
            ? t(`foot.${sentenceOf(props)}`, { name: vm.name, version: props.version ?? '' })
            : t('foot.unchanged')}
      </span>
      <span className="ms-auto flex items-center gap-2">
        <Button asChild variant="ghost">
          <Link href={`/vms/${vm.id}`}>{t('foot.discard')}</Link>
        </Button>
        <Button
          variant="primary"
          aria-disabled={blocked || undefined}
          busy={busy}
          onClick={blocked ? undefined : onApply}
        >
          {t('foot.apply')}
        </Button>
      </span>
    </>,
    place,
  );
}

function sentenceOf({ isNew, runs, version, state }: FootProps): 'install' | 'quiet' | 'update' | 'disable' | 'enable' {
  if (isNew && state === 'enabled') return 'install';
  if (!runs) return 'quiet';
  if (version !== undefined) return 'update';
  return state === 'disabled' ? 'disable' : 'enable';
}

/** The field at a place, or the group that would hold it. */
function nearest(place: string): Element | null {
  for (let at = place; at.includes('/'); at = at.slice(0, at.lastIndexOf('/'))) {
    const field = document.querySelector(`[data-at="${CSS.escape(at)}"]`);
    if (field !== null) return field;
  }
  return place.startsWith('protected:') ? document.querySelector('[data-at^="protected:"]') : null;
}
