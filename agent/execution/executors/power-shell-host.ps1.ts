/**
 * The program that keeps a PowerShell script loaded during an execution, for PowerShell 7 and later. Reads calls as
 * frames from descriptor 3, and writes answers to descriptor 4. Parses JSON itself, because `ConvertFrom-Json` changes
 * texts that look like dates.
 */
export const powerShellHostProgram = String.raw`
param([string] $annexPath)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$annexCalls = [System.IO.StreamReader]::new(
    [System.IO.Pipes.AnonymousPipeClientStream]::new([System.IO.Pipes.PipeDirection]::In, '3'))
$annexAnswers = [System.IO.Pipes.AnonymousPipeClientStream]::new([System.IO.Pipes.PipeDirection]::Out, '4')
$annexLoaded = $false
$annexJsonOptions = [System.Text.Json.JsonDocumentOptions]::new()
$annexJsonOptions.MaxDepth = 1000

function annex_value([System.Text.Json.JsonElement] $element) {
    switch ($element.ValueKind.ToString()) {
        'Object' {
            $table = [System.Collections.Hashtable]::new([System.StringComparer]::Ordinal)
            foreach ($property in $element.EnumerateObject()) { $table[$property.Name] = annex_value $property.Value }
            return $table
        }
        'Array' {
            $list = [System.Collections.Generic.List[object]]::new()
            foreach ($item in $element.EnumerateArray()) { $list.Add((annex_value $item)) }
            return , $list.ToArray()
        }
        'Number' {
            $whole = [long] 0
            if ($element.TryGetInt64([ref] $whole)) { return $whole }
            return $element.GetDouble()
        }
        'String' { return $element.GetString() }
        'True' { return $true }
        'False' { return $false }
    }
    return $null
}

function annex_described([System.Exception] $exception, [string] $stack, [int] $depth) {
    $causes = @()
    if ($null -ne $exception.InnerException -and $depth -lt 10) {
        $causes = @(annex_described $exception.InnerException '' ($depth + 1))
    }
    $rows = @($stack -split "\r?\n" | Where-Object { $_ -ne '' } | Select-Object -First 200)
    return @{ message = $exception.Message; type = $exception.GetType().Name; stack = $rows; causes = $causes; info = $null }
}

function annex_write([string] $json) {
    $bytes = [System.Text.Encoding]::UTF8.GetBytes($json + [char] 10)
    $annexAnswers.Write($bytes, 0, $bytes.Length)
    $annexAnswers.Flush()
}

while ($null -ne ($annexLine = $annexCalls.ReadLine())) {
    $annexBefore = @{}
    try {
        $annexFrame = annex_value ([System.Text.Json.JsonDocument]::Parse($annexLine, $annexJsonOptions).RootElement)
        foreach ($annexName in @($annexFrame['environment'].Keys)) {
            $annexBefore[$annexName] = [System.Environment]::GetEnvironmentVariable($annexName)
            [System.Environment]::SetEnvironmentVariable($annexName, $annexFrame['environment'][$annexName])
        }
        [System.Console]::SetIn([System.IO.StringReader]::new([string] $annexFrame['stdin']))
        $annexPositional = @($annexFrame['args'])
        $annexNamed = $annexFrame['kwargs']
        $annexFunction = $annexFrame['function']
        $annexExit = 0
        if ($null -eq $annexFunction) {
            $global:LASTEXITCODE = 0
            $annexOutput = & $annexPath @annexPositional @annexNamed
            if (-not $?) { $annexExit = $global:LASTEXITCODE }
        } else {
            if (-not $annexLoaded) {
                . $annexPath
                $annexLoaded = $true
            }
            $annexKinds = [System.Management.Automation.CommandTypes] 'Alias, Function, Filter, Cmdlet'
            $annexCommand = $ExecutionContext.InvokeCommand.GetCommand($annexFunction, $annexKinds)
            if ($null -eq $annexCommand) {
                annex_write '{"unknown":true}'
                continue
            }
            $annexOutput = & $annexCommand @annexPositional @annexNamed
        }
        if ($annexExit -ne 0) {
            annex_write ('{"exit":' + $annexExit + '}')
        } else {
            $annexJson = ConvertTo-Json -InputObject @($annexOutput) -Depth 8 -Compress -WarningAction SilentlyContinue
            annex_write ('{"value":' + $annexJson + '}')
        }
    } catch {
        $annexError = annex_described $_.Exception ([string] $_.ScriptStackTrace) 0
        annex_write (ConvertTo-Json -InputObject @{ error = $annexError } -Depth 40 -Compress)
    } finally {
        foreach ($annexName in @($annexBefore.Keys)) {
            [System.Environment]::SetEnvironmentVariable($annexName, $annexBefore[$annexName])
        }
    }
}
`;
