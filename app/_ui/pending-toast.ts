export interface ToastOptions {
  /** The undo, if any. */
  undo?: { label: string; run(): void };
}

/** A toast that was requested and is not shown yet. */
export interface PendingToast extends ToastOptions {
  text: string;
}
