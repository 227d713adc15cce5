'use client';

import { Download, Maximize, Minus, Plus } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';

export interface PictureToolsProps {
  scale: number;
  onZoom(factor: number): void;
  onFit(): void;
  onDownload(): void;
}

/** The scale of a picture, with buttons that change it, and the download. */
export function PictureTools({ scale, onZoom, onFit, onDownload }: PictureToolsProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  return (
    <div className="flex items-center justify-end gap-1">
      <IconButton size="sm" label={t('picture.smaller')} onClick={() => onZoom(0.8)}>
        <Minus aria-hidden />
      </IconButton>
      <span className="min-w-11 text-center text-12 text-ink-2 tabular-nums">{format.percent(scale)}</span>
      <IconButton size="sm" label={t('picture.larger')} onClick={() => onZoom(1.25)}>
        <Plus aria-hidden />
      </IconButton>
      <IconButton size="sm" label={t('picture.fit')} onClick={onFit}>
        <Maximize aria-hidden />
      </IconButton>
      <IconButton size="sm" label={t('picture.download')} onClick={onDownload}>
        <Download aria-hidden />
      </IconButton>
    </div>
  );
}
