import { cn } from './cn.ts';

export interface MeterProps {
  /** From 0 to 1. */
  value: number;
  /** The meter's accessible name. */
  label: string;
  /** The value as text, such as "8 missing" or "64%". */
  text?: string;
  /** `brand` by default; `healthy` for something that is complete. */
  tone?: 'brand' | 'healthy' | 'warning' | 'failed';
  /** The color of a chart series, such as `bg-series-2`, instead of a tone. */
  fill?: string;
  /** Whether this is progress (role progressbar) rather than an amount (role meter). */
  progress?: boolean;
  className?: string;
}

const tones = {
  brand: 'bg-brand',
  healthy: 'bg-healthy-solid',
  warning: 'bg-warning-solid',
  failed: 'bg-failed-solid',
};

/** A bar, 6 px high. Show its number next to it. */
export function Meter({ value, label, text, tone = 'brand', fill, progress = false, className }: MeterProps) {
  const share = Math.min(1, Math.max(0, value));
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles support an accessible name
    <div
      role={progress ? 'progressbar' : 'meter'}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      aria-valuetext={text}
      className={cn('h-1.5 w-full overflow-hidden rounded-xs bg-press', className)}
    >
      <div
        className={cn('h-full rounded-xs transition-[width] duration-(--d-3)', fill ?? tones[tone])}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
