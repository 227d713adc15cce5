'use client';

import { cn } from './cn.ts';
import { useFormat } from './format.ts';

export interface NumProps {
  value: number;
  /** `percent` expects a share between 0 and 1. */
  as?: 'number' | 'percent' | 'bytes';
  className?: string;
}

/** A number formatted for the reader's language, with digits of equal width. */
export function Num({ value, as = 'number', className }: NumProps) {
  const format = useFormat();
  const text = as === 'percent' ? format.percent(value) : as === 'bytes' ? format.bytes(value) : format.number(value);
  return <span className={cn('tabular-nums', className)}>{text}</span>;
}
