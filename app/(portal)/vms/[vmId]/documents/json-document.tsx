'use client';

import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { saveFile } from '#app/_lib/save-file.ts';
import { IconButton } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';

export interface JsonDocumentProps extends DocumentFile {
  note?: ReactNode;
  /**
   * Whether the card's header already shows the title and the buttons. If so, only screen readers get the title here.
   */
  isAlone?: boolean;
  /** Tailwind class for the height. */
  className?: string;
}

/** A document as JSON, with buttons to copy and download it. */
export function JsonDocument({ note, isAlone = false, className = 'max-h-[70vh]', ...file }: JsonDocumentProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <div className={cn('flex flex-wrap items-center gap-x-2', !isAlone && 'min-h-7')}>
        <h3 className={isAlone ? 'sr-only' : 'text-12 font-medium'}>{file.title}</h3>
        {note === undefined ? null : <span className="min-w-0 text-12 text-ink-3">{note}</span>}
        {isAlone ? null : (
          <span className="ms-auto flex gap-1">
            <DocumentActs {...file} />
          </span>
        )}
      </div>
      <CodeBlock language="json" code={textOf(file.value)} label={file.title} className={className} />
    </div>
  );
}

export interface DocumentFile {
  title: string;
  value: unknown;
  /** File name without extension. */
  file: string;
}

/** Buttons that copy a document or save it as a file. */
export function DocumentActs({ title, value, file }: DocumentFile) {
  const { t } = useTranslation('goal-states');
  return (
    <>
      <CopyButton text={textOf(value)} label={t('documents.copy', { document: title })} />
      <IconButton
        size="sm"
        label={t('documents.download', { document: title })}
        onClick={() => saveFile(`${file}.json`, textOf(value), 'application/json')}
      >
        <Download aria-hidden />
      </IconButton>
    </>
  );
}

const textOf = (value: unknown): string => JSON.stringify(value, null, 2);
