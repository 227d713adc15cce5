'use client';

import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from './button.tsx';
import { cn } from './cn.ts';
import { copyText } from './copy-text.ts';

export interface CopyButtonProps {
  text: string;
  /** Label of the button; "Copy" by default. */
  label?: string;
  className?: string;
}

/** A button that copies a text, then shows a confirmation for two seconds. */
export function CopyButton({ text, label, className }: CopyButtonProps) {
  const { t } = useTranslation('common');
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <>
      <IconButton
        size="sm"
        label={label ?? t('copy')}
        className={className}
        onClick={() => void copyText(text).then(setCopied)}
      >
        {copied ? <Check aria-hidden className="text-healthy-text" /> : <Copy aria-hidden />}
      </IconButton>
      <span role="status" className="sr-only">
        {copied ? t('copied') : ''}
      </span>
    </>
  );
}

export interface CopyCommandProps {
  command: string;
  /**
   * Whether to wrap the text instead of truncating it, for a text that must be read as a whole, such as a token shown
   * once.
   */
  whole?: boolean;
  className?: string;
}

/** A command or token to copy: monospaced, truncated at the end unless `whole`, but always copied in full. */
export function CopyCommand({ command, whole = false, className }: CopyCommandProps) {
  return (
    <div
      className={cn(
        'flex min-h-[34px] w-full items-center gap-2 rounded-md bg-sunken py-1 ps-3 pe-1 shadow-hair-subtle',
        className,
      )}
    >
      <code
        className={cn('mono min-w-0 flex-1', whole ? 'wrap-anywhere' : 'truncate')}
        title={whole ? undefined : command}
      >
        {whole ? <WholeWords text={command} /> : command}
      </code>
      <CopyButton text={command} />
    </div>
  );
}

/** Breaks a text between words, so that `--token` stays in one piece, and within a word only if it fills a line. */
function WholeWords({ text }: { text: string }) {
  return text.split(/(\s+)/).map((part, index) =>
    part.trim() === '' ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words keep their order
      <span key={index} className="inline-block max-w-full">
        {part}
      </span>
    ),
  );
}
