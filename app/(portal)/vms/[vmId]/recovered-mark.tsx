'use client';

import { ScanText } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { isolateText } from '#protocol/direction.ts';
import type { ReportedMessage } from './vm-data.ts';

type PopoverParts = typeof import('#app/_ui/popover.tsx');

const load = () => import('#app/_ui/popover.tsx');

/** A mark next to a message whose id was found by its text. It shows the original text and how the id was found. */
export function RecoveredMark({ message, className }: { message: ReportedMessage; className?: string }) {
  const { t } = useTranslation('reports');
  const [parts, setParts] = useState<PopoverParts>();
  if (parts === undefined) {
    return (
      <MarkButton
        className={className}
        aria-haspopup="dialog"
        aria-expanded={false}
        onPointerEnter={() => void load().catch(() => {})}
        onClick={() => void load().then(setParts, () => {})}
      />
    );
  }
  const { Popover, PopoverTrigger, PopoverContent } = parts;
  return (
    <Popover defaultOpen>
      <PopoverTrigger asChild>
        <MarkButton className={className} />
      </PopoverTrigger>
      <PopoverContent aria-label={t('recovered.title')} className="text-12 text-ink-2">
        <p>{t('recovered.why')}</p>
        <dl className="mt-2 grid gap-x-3 gap-y-1 sm:grid-cols-[auto_minmax(0,1fr)]">
          <dt className="text-ink-3">{t('recovered.sent')}</dt>
          {/* The language of this text is unknown, since the agent labels all texts as English. */}
          <dd lang="" translate="no" className="max-h-40 overflow-y-auto text-ink wrap-anywhere">
            {isolateText(message.original ?? '')}
          </dd>
          <dt className="text-ink-3">{t('recovered.id')}</dt>
          <dd translate="no" className="mono-11 text-ink wrap-anywhere">
            {message.id}
          </dd>
        </dl>
      </PopoverContent>
    </Popover>
  );
}

function MarkButton({ className, ...props }: ComponentProps<'button'>) {
  const { t } = useTranslation('reports');
  return (
    <button
      type="button"
      {...props}
      aria-label={t('recovered.label')}
      title={t('recovered.label')}
      className={cn(
        'inline-grid size-6 place-items-center self-center rounded-sm align-middle text-ink-3 hover:bg-hover hover:text-ink',
        className,
      )}
    >
      <ScanText aria-hidden className="size-3.5" />
    </button>
  );
}
