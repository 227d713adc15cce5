'use client';

import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';

export interface JsonDocumentProps {
  title: string;
  note?: ReactNode;
  value: unknown;
  /** Name of the file, without its ending. */
  file: string;
  /** Its title stands above already, and is only told. */
  isAlone?: boolean;
  /** Tailwind height. */
  className?: string;
}

/** A document as it was sent or will be: to read, to copy, and to take along as a file. */
export function JsonDocument({
  title,
  note,
  value,
  file,
  isAlone = false,
  className = 'max-h-[70vh]',
}: JsonDocumentProps) {
  const { t } = useTranslation('goal-states');
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="relative grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <div className={cn('flex flex-wrap items-center gap-x-2', !isAlone && 'min-h-7')}>
        <h3 className={isAlone ? 'sr-only' : 'text-12 font-medium'}>{title}</h3>
        {note === undefined ? null : <span className="min-w-0 text-12 text-ink-3">{note}</span>}
        <span className={cn('flex gap-1', isAlone ? 'absolute end-2 bottom-2 z-1 rounded-md bg-surface' : 'ms-auto')}>
          <CopyButton text={text} label={t('documents.copy', { document: title })} />
          <IconButton
            size="sm"
            label={t('documents.download', { document: title })}
            onClick={() => download(`${file}.json`, text)}
          >
            <Download aria-hidden />
          </IconButton>
        </span>
      </div>
      <CodeBlock language="json" code={text} label={title} className={className} />
    </div>
  );
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
