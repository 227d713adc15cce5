ALTER TABLE "executions" ADD COLUMN "secret_id" uuid;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "secret_parameters" text[] DEFAULT '{}' NOT NULL;