'use client';

import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { isolateText } from '#protocol/direction.ts';
import { MessageText } from './message-line.tsx';
import type { ReportedMessage } from './vm-data.ts';

/** How many entries of an object or list are rendered at a time. */
const shownEntries = 50;

const small = 'min-h-6 rounded-sm px-1.5 text-12 text-brand-text hover:bg-hover';

/** A JSON message as a tree or as raw text. Branches of the tree are rendered when they are opened. */
export function JsonMessage({ value, message }: { value: object; message: ReportedMessage }) {
  const { t } = useTranslation('reports');
  const [raw, setRaw] = useState(false);
  return (
    <div className="min-w-0 text-12">
      {raw ? (
        <div className="mono-11 wrap-anywhere">
          <MessageText message={message} />
        </div>
      ) : (
        <Entries value={value} />
      )}
      <button type="button" onClick={() => setRaw(!raw)} className={cn(small, '-ms-1.5')}>
        {t(raw ? 'json.tree' : 'json.raw')}
      </button>
    </div>
  );
}

function Entries({ value }: { value: object }) {
  const { t } = useTranslation('reports');
  const [shown, setShown] = useState(shownEntries);
  const entries = Object.entries(value);
  const rest = entries.length - shown;
  return (
    <ul lang="" translate="no" className="grid gap-px">
      {entries.slice(0, shown).map(([key, inner]) => (
        <Entry key={key} name={key} value={inner} />
      ))}
      {rest > 0 ? (
        <li translate="yes">
          <button type="button" onClick={() => setShown(shown + shownEntries)} className={small}>
            {t('json.more', { count: Math.min(rest, shownEntries) })}
          </button>
        </li>
      ) : null}
    </ul>
  );
}

function Entry({ name, value }: { name: string; value: unknown }) {
  const [open, setOpen] = useState(false);
  const key = <span className="mono-11 text-ink-2">{isolateText(name)}</span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <li className="ps-4.5 wrap-anywhere">
        {key} <bdi className="whitespace-pre-wrap">{isolateText(String(value))}</bdi>
      </li>
    );
  }
  const count = Object.keys(value).length;
  return (
    <li className="wrap-anywhere">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="inline-flex min-h-6 items-center gap-1 rounded-sm pe-1.5 text-start hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={cn('size-3.5 shrink-0 text-ink-3 rtl:-scale-x-100', open && 'rotate-90')}
        />
        {key}
        <span className="mono-11 text-ink-3">{Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
      </button>
      {open && count > 0 ? (
        <div className="ms-[7px] border-s border-line ps-2">
          <Entries value={value} />
        </div>
      ) : null}
    </li>
  );
}
