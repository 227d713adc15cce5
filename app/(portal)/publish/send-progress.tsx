'use client';

import { FileArchive } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Meter } from '#app/_ui/meter.tsx';
import { Status } from '#app/_ui/status.tsx';
import { durationWords } from '#app/_ui/time.tsx';
import type { Progress } from './use-sending.ts';

export interface SendProgressProps {
  file: File;
  progress: Progress;
  onStop(): void;
}

/** The progress of the upload, then a note that the portal is checking the package. */
export function SendProgress({ file, progress, onStop }: SendProgressProps) {
  const { t } = useTranslation('packages');
  const { t: common } = useTranslation('common');
  const format = useFormat();
  // The number of sent bytes can exceed the file's size slightly, so the bar is capped.
  const sent = Math.min(progress.sent, file.size);
  const share = file.size === 0 ? 1 : sent / file.size;
  const elapsed = progress.now - progress.startedAt;
  const left = sent > 0 && elapsed > 1000 ? (elapsed / sent) * (file.size - sent) : undefined;
  const checking = share >= 1;
  const text = checking
    ? t('send.checking')
    : [format.percent(share), left === undefined ? null : t('send.left', { time: durationWords(common, left) })]
        .filter((part) => part !== null)
        .join(', ');
  return (
    <Card className="flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
      <span className="grid size-10 shrink-0 place-items-center rounded-md bg-brand-tint text-brand-text">
        <FileArchive aria-hidden className="size-5" />
      </span>
      <div className="grid min-w-0 flex-1 basis-64 gap-1.5">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span translate="no" className="min-w-0 truncate font-medium">
            {file.name}
          </span>
          <span className="text-12 text-ink-3 tabular-nums">
            {t('send.of', { sent: format.bytes(sent), total: format.bytes(file.size) })}
          </span>
        </p>
        <Meter progress value={share} label={t('send.progress', { name: file.name })} text={text} />
        <p className="min-h-5 text-12 text-ink-2 tabular-nums">
          {checking ? <Status status="progressing">{text}</Status> : text}
        </p>
      </div>
      <Button variant="ghost" onClick={onStop}>
        {t('send.stop')}
      </Button>
    </Card>
  );
}
