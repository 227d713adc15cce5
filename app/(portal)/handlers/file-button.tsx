'use client';

import { useRef } from 'react';
import { Button, type ButtonProps } from '#app/_ui/button.tsx';

export interface FileButtonProps extends Pick<ButtonProps, 'size' | 'variant' | 'busy'> {
  label: string;
  accept: string;
  multiple?: boolean;
  onFiles(files: readonly File[]): void;
}

/** A button that opens the system's file chooser. */
export function FileButton({ label, accept, multiple = false, onFiles, ...look }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button size="sm" {...look} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        accept={accept}
        multiple={multiple}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          // Allows the reader to choose the same file again after correcting it.
          event.target.value = '';
          if (files.length > 0) onFiles(files);
        }}
      />
    </>
  );
}
